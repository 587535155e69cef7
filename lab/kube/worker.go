package kube

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// worker runs one pod on a node.
type worker struct {
	kubelet *kubelet
	born    *corev1.Pod // as the node first got it; for fields that never change
	subject string      // its name in facts: the same in each run, without the random part
	// report writes the status to the API, and waits for the API if it must.
	report func(context.Context, corev1.PodStatus) error
	// runs returns what really runs for a container, or nil for one that is only simulated.
	runs   func(corev1.Container) runner
	mirror *mirror // of a static pod

	ctx    context.Context // until the pod or the node is gone
	cancel context.CancelFunc
	alive  context.Context // until it is asked to stop
	kill   context.CancelFunc
	group  sync.WaitGroup
	dirty  chan struct{}

	mu       sync.Mutex
	pod      *corev1.Pod // as it is now
	state    podState
	last     []corev1.PodCondition
	before   []corev1.ContainerStatus // from before the node's boot
	ready    bool
	phase    corev1.PodPhase
	stopping bool
	// onNetwork counts the containers that use the pod's addresses.
	onNetwork int
}

// runner runs a container until the context ends; ready is called when it serves.
// The goroutine that writes takes its log.
type runner func(ctx context.Context, output *lastLine, ready func()) error

// newWorker returns a worker for a pod of the API.
func newWorker(k *kubelet, pod *corev1.Pod) *worker {
	w := bareWorker(k, pod)
	w.report = w.patchStatus
	w.runs = w.program
	return w
}

func bareWorker(k *kubelet, pod *corev1.Pod) *worker {
	w := &worker{kubelet: k, born: pod, pod: pod, subject: subjectOf(pod), dirty: make(chan struct{}, 1)}
	w.ctx, w.cancel = context.WithCancel(k.ctx)
	w.alive, w.kill = context.WithCancel(w.ctx)
	return w
}

// subjectOf names a pod without the random part of its name.
func subjectOf(pod *corev1.Pod) string {
	if pod.GenerateName != "" {
		return pod.Namespace + "/" + pod.GenerateName
	}
	return pod.Namespace + "/" + pod.Name
}

func (w *worker) start() {
	w.begin()
	w.fact("begun")
	w.group.Go(func() { w.live(w.alive) })
	w.group.Go(w.publish)
	signal(w.dirty)
}

// stop ends it as if the node lost its power: nothing is reported.
func (w *worker) stop() {
	w.cancel()
	w.group.Wait()
	w.kubelet.addresses.release(w.born.UID)
}

func (w *worker) wait() { w.group.Wait() }

func (w *worker) current() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod
}

func (w *worker) isReady() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ready
}

// update passes the current pod, and ends one that is to be deleted.
func (w *worker) update(pod *corev1.Pod) {
	w.mu.Lock()
	old := w.pod
	w.pod = pod
	begin := pod.DeletionTimestamp != nil && !w.stopping
	w.stopping = w.stopping || begin
	w.mu.Unlock()
	if begin {
		w.group.Go(w.terminate)
		return
	}
	// The controller manager marks pods of a node that is not Ready as not Ready; the kubelet reverts that.
	if isReady(pod) != w.isReady() || missingGates(old) != missingGates(pod) || old.Generation != pod.Generation {
		signal(w.dirty)
	}
}

// begin sets the state before anything runs. A container that ran before the node's boot counts as restarted.
func (w *worker) begin() {
	status := w.born.Status
	w.last = status.Conditions
	w.before = append(append(w.before, status.InitContainerStatuses...), status.ContainerStatuses...)
	w.state.started = metav1.Now()
	if status.StartTime != nil {
		w.state.started = *status.StartTime
	}
	w.state.hostIPs = w.kubelet.ips()
	if w.born.Spec.HostNetwork {
		w.state.podIPs = w.state.hostIPs
	}
	reason := "ContainerCreating"
	if len(w.born.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	for _, c := range w.born.Spec.InitContainers {
		w.state.init = append(w.state.init, w.fresh(c, reason))
	}
	for _, c := range w.born.Spec.Containers {
		w.state.containers = append(w.state.containers, w.fresh(c, reason))
	}
}

// fresh returns the status of a container that waits to be started, with its history.
func (w *worker) fresh(c corev1.Container, reason string) corev1.ContainerStatus {
	no := false
	status := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Started: &no,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
	}
	for _, old := range w.before {
		if old.Name == c.Name {
			inherit(&status, old)
		}
	}
	return status
}

// inherit copies a container's history from before its node went down.
func inherit(status *corev1.ContainerStatus, old corev1.ContainerStatus) {
	status.RestartCount = old.RestartCount
	status.LastTerminationState = old.LastTerminationState
	switch {
	case old.State.Running != nil:
		status.RestartCount++
		status.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 255, Reason: "Unknown", StartedAt: old.State.Running.StartedAt, FinishedAt: metav1.Now(), ContainerID: old.ContainerID,
		}}
	case old.State.Terminated != nil:
		status.RestartCount++
		status.LastTerminationState = old.State
	}
}

func (k *kubelet) ips() []netip.Addr {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spec.IPs
}

// live runs the pod: first its prerequisites, then its containers.
func (w *worker) live(ctx context.Context) {
	if len(w.before) > 0 && w.before[0].ContainerID != "" {
		w.event(corev1.EventTypeNormal, "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.")
	}
	if w.volumes(ctx) != nil || w.sandbox(ctx) != nil {
		return
	}
	for i := range w.born.Spec.InitContainers {
		c := &slot{worker: w, spec: w.born.Spec.InitContainers[i], index: i, init: true}
		if !c.initialize(ctx) {
			return
		}
	}
	for i := range w.born.Spec.Containers {
		c := &slot{worker: w, spec: w.born.Spec.Containers[i], index: i}
		w.group.Go(func() { c.keep(ctx) })
	}
}

// sandbox gives the pod its network.
func (w *worker) sandbox(ctx context.Context) error {
	if !w.born.Spec.HostNetwork {
		if !w.kubelet.network.open() {
			w.event(corev1.EventTypeWarning, "NetworkNotReady", "network is not ready: "+cniMissing)
		}
		if err := w.kubelet.network.wait(ctx); err != nil {
			return err
		}
		if err := w.kubelet.addresses.known.wait(ctx); err != nil {
			return err
		}
		ips := w.kubelet.addresses.take(w.born.UID)
		w.change(func(s *podState) { s.podIPs = ips })
	}
	w.change(func(s *podState) { s.sandbox = true })
	return context.Cause(ctx)
}

// change changes the state and triggers a report.
func (w *worker) change(change func(*podState)) {
	w.mu.Lock()
	change(&w.state)
	status := podStatus(w.pod, w.state, w.last, metav1.Now())
	w.last = status.Conditions
	ready := isReady(&corev1.Pod{Status: status})
	turned, ended := ready != w.ready, status.Phase != w.phase && (status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed)
	w.ready, w.phase = ready, status.Phase
	w.mu.Unlock()
	if ended {
		w.fact(strings.ToLower(string(status.Phase)))
	} else if turned {
		w.fact(map[bool]string{true: "ready", false: "not ready"}[ready])
	}
	signal(w.dirty)
}

func (w *worker) fact(value string, detail ...string) {
	w.kubelet.k.record(w.kubelet.host.name, "pod", value, append([]string{"pod", w.subject}, detail...)...)
}

// publish reports the status whenever it changed.
func (w *worker) publish() {
	for {
		select {
		case <-w.dirty:
		case <-w.ctx.Done():
			return
		}
		if err := w.report(w.ctx, w.status()); err != nil && w.ctx.Err() == nil {
			w.kubelet.k.options.Log.Warn("report a pod", "pod", w.subject, "error", err)
		}
	}
}

func (w *worker) status() corev1.PodStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := podStatus(w.pod, w.state, w.last, metav1.Now())
	w.last = status.Conditions
	return status
}

// terminate stops the containers and deletes the pod from the API.
func (w *worker) terminate() {
	for _, c := range w.current().Spec.Containers {
		w.containerEvent(c.Name, corev1.EventTypeNormal, "Killing", "Stopping container "+c.Name)
	}
	w.kill()
	if err := w.kubelet.k.options.Pace.Wait(w.ctx, pace.Kill, w.kubelet.host.name+" "+w.subject); err != nil {
		return
	}
	if len(w.current().Finalizers) > 0 {
		// Controllers read its last status before they remove their finalizers.
		w.change(endAll)
		if err := w.report(w.ctx, w.status()); err != nil {
			return
		}
	}
	if err := w.remove(); err != nil && w.ctx.Err() == nil {
		w.kubelet.k.options.Log.Warn("delete a pod", "pod", w.subject, "error", err)
		return
	}
	w.fact("deleted")
}

// endAll marks every stopped container as succeeded.
func endAll(s *podState) {
	for _, statuses := range [][]corev1.ContainerStatus{s.init, s.containers} {
		for i := range statuses {
			if statuses[i].State.Terminated == nil {
				finish(&statuses[i], &corev1.ContainerStateTerminated{Reason: "Completed"})
			}
		}
	}
}
