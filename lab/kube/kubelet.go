package kube

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// kubelet simulates the kubelet of a node.
type kubelet struct {
	k     *Kubernetes
	host  *host
	space *space
	tell  func(cluster.NodeState)

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	refit  chan struct{} // the Node may have to be written

	mu         sync.Mutex
	spec       cluster.Kubelet
	written    *cluster.Kubelet // the spec that the Node was last adjusted to
	node       *corev1.Node     // as last seen
	uid        types.UID        // of the Node
	workers    map[types.UID]*worker
	addresses  ipam
	registered gate // the Node exists: pods may be created
	network    gate // pods have a network
	audible    gate // the kubelet's heartbeats reach the API
	cni        map[types.UID]string
	drivers    map[types.UID]string
	booked     chan struct{} // CSINode may have to be written
}

// StartKubelet registers the Node and runs pods on it. If it runs already, it
// applies the new spec: labels, annotations and taints are those of Talos.
func (k *Kubernetes) StartKubelet(name string, spec cluster.Kubelet, tell func(cluster.NodeState)) {
	h := k.host(name)
	h.mu.Lock()
	if running := h.kubelet; running != nil {
		h.mu.Unlock()
		running.mu.Lock()
		running.spec = spec
		running.mu.Unlock()
		signal(running.refit)
		return
	}
	ctx, cancel := context.WithCancel(k.ctx)
	kubelet := &kubelet{
		k: k, host: h, space: k.cluster(spec.Cluster), tell: tell,
		ctx: ctx, cancel: cancel, refit: make(chan struct{}, 1), booked: make(chan struct{}, 1),
		spec: spec, workers: map[types.UID]*worker{}, cni: map[types.UID]string{}, drivers: map[types.UID]string{},
	}
	kubelet.audible.set(true)
	h.kubelet = kubelet
	static := h.static
	h.mu.Unlock()

	s := kubelet.space
	s.mu.Lock()
	s.kubelets[spec.Node] = kubelet
	s.mu.Unlock()
	s.noteSkews()
	kubelet.group.Go(kubelet.run)
	if static != nil {
		static.start(kubelet)
	}
}

// StopKubelet ends it and everything that it runs; heartbeats stop.
func (k *Kubernetes) StopKubelet(name string) {
	h := k.host(name)
	h.mu.Lock()
	kubelet, static := h.kubelet, h.static
	h.kubelet = nil
	h.mu.Unlock()
	if kubelet == nil {
		return
	}
	if static != nil {
		static.stop()
	}
	s := kubelet.space
	s.mu.Lock()
	delete(s.kubelets, kubelet.name())
	s.mu.Unlock()
	kubelet.cancel()
	kubelet.group.Wait()
	for _, w := range kubelet.all() {
		w.wait()
	}
	k.record(name, "kubelet", "stopped")
}

// images are those of the node's disk; nil if nothing is known of it.
func (k *kubelet) images() cluster.Images {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spec.Images
}

func (k *kubelet) name() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spec.Node
}

// run registers the Node and then maintains it.
func (k *kubelet) run() {
	if err := k.k.options.Pace.Wait(k.ctx, pace.Register, k.host.name); err != nil {
		return
	}
	outcome, err := k.k.options.Faults.Meet(k.ctx, fault.Point{On: fault.Node, Name: "register", Subject: k.name()})
	if err != nil {
		return
	}
	if outcome != nil {
		// Its heartbeats do not arrive.
		<-k.ctx.Done()
		return
	}
	if err := k.register(); err != nil {
		k.k.options.Log.Error("register a node", "node", k.name(), "error", err)
		return
	}
	k.k.record(k.host.name, "kubelet", "registered", "node", k.name())
	k.registered.set(true)
	k.reconcile()
	k.group.Go(k.beat)
	k.group.Go(k.keepDrivers)
	for {
		select {
		case <-k.refit:
			k.refresh()
		case <-k.ctx.Done():
			return
		}
	}
}

// register creates the Node, or updates the one that exists.
func (k *kubelet) register() error {
	k.mu.Lock()
	spec := k.spec
	k.mu.Unlock()
	return k.try(func(ctx context.Context, a *api) error {
		nodes := a.client.CoreV1().Nodes()
		node, err := nodes.Create(ctx, newNode(spec, metav1.Now()), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return k.fit(ctx, a)
		}
		if err != nil {
			return err
		}
		k.wrote(spec, node)
		return nil
	})
}

// fit writes the metadata that Talos sets and the status that the kubelet reports.
func (k *kubelet) fit(ctx context.Context, a *api) error {
	nodes := a.client.CoreV1().Nodes()
	k.mu.Lock()
	spec, before := k.spec, k.written
	k.mu.Unlock()
	node, err := nodes.Get(ctx, spec.Node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if adjust(node, spec, before) {
		if node, err = nodes.Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	k.wrote(spec, node)
	if !outdated(node, k.network.open()) && node.Status.NodeInfo == spec.Info {
		return nil
	}
	status := nodeStatus(spec, k.network.open(), node.Status.Conditions, metav1.Now())
	patch, err := nodePatch(status, external(spec))
	if err != nil {
		return err
	}
	_, err = nodes.PatchStatus(ctx, spec.Node, patch)
	return err
}

// wrote records what was written to which Node.
func (k *kubelet) wrote(spec cluster.Kubelet, node *corev1.Node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.written, k.uid = &spec, node.UID
}

// nodePatch replaces what a kubelet reports and preserves what others write. With an external cloud provider the addresses are the provider's.
func nodePatch(status corev1.NodeStatus, external bool) ([]byte, error) {
	fields := map[string]any{
		"capacity": status.Capacity, "allocatable": status.Allocatable, "nodeInfo": status.NodeInfo,
		"conditions": status.Conditions, "daemonEndpoints": status.DaemonEndpoints,
	}
	if !external {
		addresses := []any{map[string]string{"$patch": "replace"}}
		for _, address := range status.Addresses {
			addresses = append(addresses, address)
		}
		fields["addresses"] = addresses
	}
	return json.Marshal(map[string]any{"status": fields})
}

// refresh writes the Node until the API has accepted it, or it is deleted.
func (k *kubelet) refresh() {
	for {
		err := k.try(k.fit)
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil && !apierrors.IsNotFound(err) && k.ctx.Err() == nil {
			k.k.options.Log.Error("write a node", "node", k.name(), "error", err)
		}
		return
	}
}

// try calls the API as this node, unless a fault blocks its heartbeats.
func (k *kubelet) try(call func(context.Context, *api) error) error { return k.tryFor(k.ctx, call) }

func (k *kubelet) tryFor(ctx context.Context, call func(context.Context, *api) error) error {
	if err := k.audible.wait(ctx); err != nil {
		return err
	}
	return k.space.try(ctx, call)
}

// nodeChanged is called with the current Node, or nil if it was deleted.
func (k *kubelet) nodeChanged(node *corev1.Node) {
	k.mu.Lock()
	was, wasHeld := nodeState(k.node), held(k.node)
	k.node = node
	k.mu.Unlock()
	now, isHeld := nodeState(node), held(node)
	if was.Ready != now.Ready && k.registered.open() {
		k.k.record(k.host.name, "node", map[bool]string{true: "ready", false: "not ready"}[now.Ready], "node", k.name())
	}
	if wasHeld != isHeld && k.registered.open() {
		k.k.record(k.host.name, "taints", map[bool]string{true: "set", false: "gone"}[isHeld], "node", k.name())
	}
	k.tell(now)
	if node == nil {
		return
	}
	k.addresses.setRanges(node.Spec.PodCIDRs)
	if outdated(node, k.network.open()) {
		signal(k.refit)
	}
}

// reconcile compares its pods with those in the API: it starts new ones, and ends those that were deleted while no watch was open.
func (k *kubelet) reconcile() {
	bound := k.space.boundTo(k.name())
	for _, pod := range bound {
		k.podChanged(pod)
	}
	for uid, w := range k.all() {
		if !slices.ContainsFunc(bound, func(pod *corev1.Pod) bool { return pod.UID == uid }) {
			k.podGone(w.current())
		}
	}
}

func (k *kubelet) all() map[types.UID]*worker {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[types.UID]*worker, len(k.workers))
	for uid, w := range k.workers {
		all[uid] = w
	}
	return all
}

// podChanged starts a pod, or updates it if it runs.
func (k *kubelet) podChanged(pod *corev1.Pod) {
	if isMirror(pod) {
		k.host.mirror(pod, true)
		return
	}
	k.noticeCNI(pod, true)
	k.noticeDriver(pod, true)
	k.mu.Lock()
	w := k.workers[pod.UID]
	begin := w == nil && k.registered.open() && k.ctx.Err() == nil && (!podDone(pod) || pod.DeletionTimestamp != nil)
	if begin {
		w = newWorker(k, pod)
		k.workers[pod.UID] = w
	}
	k.mu.Unlock()
	switch {
	case begin:
		w.start()
		fallthrough
	case w != nil:
		w.update(pod)
	}
}

func podDone(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// podGone ends a pod that is no longer in the API.
func (k *kubelet) podGone(pod *corev1.Pod) {
	k.noticeCNI(pod, false)
	k.noticeDriver(pod, false)
	k.mu.Lock()
	w := k.workers[pod.UID]
	delete(k.workers, pod.UID)
	k.mu.Unlock()
	if w != nil {
		w.stop()
	}
	if isMirror(pod) {
		k.host.mirror(pod, false)
	}
}

// signal wakes one waiting goroutine.
func signal(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
