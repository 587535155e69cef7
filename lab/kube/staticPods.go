package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// staticPods are those of a control plane. They run while the node's kubelet does.
type staticPods struct {
	k     *Kubernetes
	host  *host
	space *space

	mu      sync.Mutex
	spec    cluster.ControlPlane
	tell    func(cluster.StaticPod)
	workers map[string]*worker
}

// RunStaticPods makes the node run these static pods, replacing the previous ones. An unchanged one keeps running.
func (k *Kubernetes) RunStaticPods(name string, spec cluster.ControlPlane, tell func(cluster.StaticPod)) {
	h, s := k.host(name), k.cluster(spec.Cluster)
	if err := s.adopt(spec.AdminKubeconfig); err != nil {
		k.options.Log.Error("run static pods", "host", name, "error", err)
		return
	}
	h.mu.Lock()
	static, running := h.static, h.kubelet
	if static == nil {
		static = &staticPods{k: k, host: h, space: s, workers: map[string]*worker{}}
		h.static = static
	}
	h.mu.Unlock()
	static.replace(spec, tell)
	s.noteSkews()
	if running != nil {
		static.start(running)
	}
}

// StopStaticPods ends them.
func (k *Kubernetes) StopStaticPods(name string) {
	h := k.host(name)
	h.mu.Lock()
	static := h.static
	h.static = nil
	h.mu.Unlock()
	if static != nil {
		static.stop()
	}
}

// replace changes to another spec: pods that are removed or changed end.
func (p *staticPods) replace(spec cluster.ControlPlane, tell func(cluster.StaticPod)) {
	p.mu.Lock()
	old := p.spec
	p.spec, p.tell = spec, tell
	var ending []*worker
	for _, name := range replaced(old, spec, slices.Collect(maps.Keys(p.workers))) {
		ending = append(ending, p.workers[name])
		delete(p.workers, name)
	}
	p.mu.Unlock()
	for _, w := range ending {
		w.stop()
		p.dropMirror(w)
	}
}

// replaced are those of the pods that another spec ends. Where the manifest of a control
// plane component changed, all of these components restart, as observed on real nodes.
func replaced(old, now cluster.ControlPlane, names []string) []string {
	all := componentChanged(old.Pods, now.Pods)
	return slices.DeleteFunc(names, func(name string) bool {
		pod := podNamed(now.Pods, name)
		return pod != nil && !(all && isComponent(pod)) && samePod(old, now, podNamed(old.Pods, name), pod)
	})
}

func podNamed(pods []*corev1.Pod, name string) *corev1.Pod {
	for _, pod := range pods {
		if pod.Name == name {
			return pod
		}
	}
	return nil
}

// isComponent reports whether a pod is an API server, a controller manager or a
// scheduler.
func isComponent(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.Containers {
		if len(c.Command) > 0 && ports[path.Base(c.Command[0])] != 0 {
			return true
		}
	}
	return false
}

// componentChanged reports whether the manifest of a component that was there is another
// one now.
func componentChanged(old, now []*corev1.Pod) bool {
	return slices.ContainsFunc(now, func(pod *corev1.Pod) bool {
		before := podNamed(old, pod.Name)
		return before != nil && isComponent(pod) && !reflect.DeepEqual(before, pod)
	})
}

// samePod reports whether neither the pod nor a file that it mounts changed.
func samePod(oldSpec, newSpec cluster.ControlPlane, old, now *corev1.Pod) bool {
	if old == nil || !reflect.DeepEqual(old, now) {
		return false
	}
	for _, c := range now.Spec.Containers {
		folders := mounts(now, c)
		if !maps.EqualFunc(mounted(oldSpec.Files, folders), mounted(newSpec.Files, folders), bytes.Equal) {
			return false
		}
	}
	return true
}

// start starts those that are not running.
func (p *staticPods) start(k *kubelet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pod := range p.spec.Pods {
		if p.workers[pod.Name] != nil {
			continue
		}
		w := p.worker(k, pod)
		p.workers[pod.Name] = w
		w.start()
	}
}

func (p *staticPods) stop() {
	p.mu.Lock()
	workers := p.workers
	p.workers = map[string]*worker{}
	p.mu.Unlock()
	// Pods that need the API server end before it.
	for _, last := range []bool{false, true} {
		var ending sync.WaitGroup
		for name, w := range workers {
			if (name == "kube-apiserver") == last {
				ending.Go(w.stop)
			}
		}
		ending.Wait()
	}
}

// worker simulates a static pod: its API object is the mirror.
func (p *staticPods) worker(k *kubelet, pod *corev1.Pod) *worker {
	pod = pod.DeepCopy()
	// Like a kubelet: another manifest is another pod.
	manifest, _ := json.Marshal(pod) // what was made of JSON is never refused
	pod.UID = types.UID(digest(k.name() + "/" + string(manifest))[:32])
	w := bareWorker(k, pod)
	w.mirror = &mirror{}
	w.runs = func(c corev1.Container) runner { return p.runner(pod, c) }
	w.report = func(ctx context.Context, status corev1.PodStatus) error {
		p.mu.Lock()
		tell := p.tell
		p.mu.Unlock()
		tell(cluster.StaticPod{Name: pod.Name, Ready: isReady(&corev1.Pod{Status: status}), Status: status})
		return w.reflect(ctx, status)
	}
	return w
}

// runner runs a component of the control plane; other static pods are simulated.
func (p *staticPods) runner(pod *corev1.Pod, c corev1.Container) runner {
	if len(c.Command) == 0 {
		return nil
	}
	kind := path.Base(c.Command[0])
	if _, known := ports[kind]; !known {
		return nil
	}
	return func(ctx context.Context, output *lastLine, ready func()) error {
		if err := p.k.options.Pace.Wait(ctx, pace.Static, p.host.name+" "+pod.Name); err != nil {
			return err
		}
		return p.runComponent(ctx, kind, pod, c, ready)
	}
}

// runComponent adds the node to the component's process; for a running API server it also answers at the node's address.
func (p *staticPods) runComponent(ctx context.Context, kind string, pod *corev1.Pod, c corev1.Container, ready func()) error {
	p.mu.Lock()
	spec := p.spec
	p.mu.Unlock()
	part := newShare(p.host.name, spec, pod, c)
	key := sharingKey(c.Image, part.command, part.env, part.files)
	if kind == "kube-apiserver" && part.caKey == nil {
		// The lab cannot issue a certificate for several nodes.
		key += p.host.name
	}
	component := p.space.component(kind, key)
	p.host.runs(pod.Name, component)
	var forwarder *forwarder
	var failed error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := component.use(ctx, part, func() {
		if kind == "kube-apiserver" {
			if forwarder, failed = p.listen(spec, component, part); failed != nil {
				cancel()
				return
			}
		}
		ready()
	})
	if forwarder != nil {
		p.space.setServing(p.host.name, netip.AddrPort{}, false)
		err = errors.Join(err, forwarder.close())
	}
	return errors.Join(err, failed)
}

func (p *staticPods) listen(spec cluster.ControlPlane, c *component, part *share) (*forwarder, error) {
	file := func(name string) []byte { return part.files[flag(part.command, name)] }
	front, err := newFront(p.k.options.Faults, p.k.options.Timeline, string(p.space.id), c.serving(), frontFiles{
		cert: file("tls-cert-file"), key: file("tls-private-key-file"), clientCA: file("client-ca-file"),
		proxyCert: file("proxy-client-cert-file"), proxyKey: file("proxy-client-key-file"),
	})
	if err != nil {
		return nil, err
	}
	forwarder, err := p.k.forward(netip.AddrPortFrom(spec.Address, spec.Port), c.serving(), front)
	if err != nil {
		return nil, errors.Join(err, front.close())
	}
	p.space.setServing(p.host.name, netip.AddrPortFrom(spec.Address, spec.Port), true)
	return forwarder, nil
}

// newShare returns the node's share of a component.
func newShare(host string, spec cluster.ControlPlane, pod *corev1.Pod, c corev1.Container) *share {
	part := &share{host: host, image: c.Image, folders: mounts(pod, c)}
	part.command, part.env = expand(c, spec.Address.String())
	part.files = mounted(spec.Files, part.folders)
	part.caCert, part.caKey = signer(spec.Files, part.files[flag(part.command, "tls-cert-file")])
	return part
}

// signer finds, among files, the CA that signed a certificate, with its key.
func signer(files map[string][]byte, signed []byte) (cert, key []byte) {
	leaf, err := parseCertificate(signed)
	if err != nil {
		return nil, nil
	}
	for name, data := range files {
		stem, isCert := strings.CutSuffix(name, ".crt")
		keyData, hasKey := files[stem+".key"]
		if !isCert || !hasKey {
			continue
		}
		ca, err := parseCertificate(data)
		if err != nil || !ca.IsCA || leaf.CheckSignatureFrom(ca) != nil {
			continue
		}
		if _, err := tls.X509KeyPair(data, keyData); err == nil {
			return data, keyData
		}
	}
	return nil, nil
}
