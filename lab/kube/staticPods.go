package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// staticPods are those of a node that is a control plane. They run while the
// node's kubelet does.
type staticPods struct {
	k     *Kubernetes
	host  *host
	space *space

	mu      sync.Mutex
	spec    cluster.ControlPlane
	tell    func(cluster.StaticPod)
	workers map[string]*worker
}

// RunStaticPods makes the node run these static pods in place of those before.
// One that stays the same goes on.
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

// replace takes over another spec: pods that are not in it, or not the same, end.
func (p *staticPods) replace(spec cluster.ControlPlane, tell func(cluster.StaticPod)) {
	p.mu.Lock()
	old := p.spec
	p.spec, p.tell = spec, tell
	var ending []*worker
	for name, w := range p.workers {
		if pod := podNamed(spec.Pods, name); pod == nil || !samePod(old, spec, podNamed(old.Pods, name), pod) {
			ending = append(ending, w)
			delete(p.workers, name)
		}
	}
	p.mu.Unlock()
	for _, w := range ending {
		w.stop()
		p.dropMirror(w)
	}
}

func podNamed(pods []*corev1.Pod, name string) *corev1.Pod {
	for _, pod := range pods {
		if pod.Name == name {
			return pod
		}
	}
	return nil
}

// samePod says whether neither the pod nor a file that it mounts changed.
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

// start begins those that do not run yet.
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
	// Those that need the API server end before it does.
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

// worker plays a static pod: its API object is the mirror.
func (p *staticPods) worker(k *kubelet, pod *corev1.Pod) *worker {
	pod = pod.DeepCopy()
	pod.UID = types.UID(digest(k.name() + "/" + pod.Name)[:32])
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

// runner runs a component of the control plane; other static pods are played.
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

// runComponent takes part in the process, and while the API server runs makes it
// answer at the node's address.
func (p *staticPods) runComponent(ctx context.Context, kind string, pod *corev1.Pod, c corev1.Container, ready func()) error {
	p.mu.Lock()
	spec := p.spec
	p.mu.Unlock()
	part := newShare(p.host.name, spec, pod, c)
	key := sharingKey(c.Image, part.command, part.env, part.files)
	if kind == "kube-apiserver" && part.caKey == nil {
		// Nobody can make a certificate for several nodes.
		key += p.host.name
	}
	component := p.space.component(kind, key)
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

// newShare is the node's part in a component.
func newShare(host string, spec cluster.ControlPlane, pod *corev1.Pod, c corev1.Container) *share {
	part := &share{host: host, folders: mounts(pod, c)}
	part.command, part.env = expand(c, spec.Address.String())
	part.files = mounted(spec.Files, part.folders)
	part.caCert, part.caKey = signer(spec.Files, part.files[flag(part.command, "tls-cert-file")])
	return part
}

// signer finds the authority that signed a certificate, with its key, among files.
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
