package node

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// fakeNetwork only knows what is up.
type fakeNetwork struct {
	mu sync.Mutex
	up map[netip.Addr]bool
}

func (f *fakeNetwork) Add(addr netip.Addr) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up[addr] = true
	return nil
}

func (f *fakeNetwork) Remove(addr netip.Addr) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.up, addr)
	return nil
}

func (f *fakeNetwork) addresses() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for addr := range f.up {
		all = append(all, addr.String())
	}
	slices.Sort(all)
	return all
}

func (f *fakeNetwork) Listen(at netip.AddrPort) (net.Listener, error) {
	return &fakeListener{at: at, closed: make(chan struct{})}, nil
}

func (f *fakeNetwork) Dial(context.Context, netip.Addr, netip.AddrPort) (net.Conn, error) {
	return nil, errors.New("connection refused")
}

func (f *fakeNetwork) SetFirewall(netip.Addr, *network.Firewall) {}

type fakeListener struct {
	at     netip.AddrPort
	once   sync.Once
	closed chan struct{}
}

func (f *fakeListener) Accept() (net.Conn, error) {
	<-f.closed
	return nil, net.ErrClosed
}

func (f *fakeListener) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

func (f *fakeListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(f.at) }

// fakeAPI notes which API is served by whom.
type fakeAPI struct {
	mu      sync.Mutex
	serving map[string]string
	// failures is how often the full API does not start.
	failures int
}

func (f *fakeAPI) serve(m talosapi.Machine, maintenance bool, _ []netip.Addr) (API, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !maintenance && f.failures > 0 {
		f.failures--
		return nil, errors.New("there is no certificate")
	}
	f.serving[m.Host()] = "full"
	if maintenance {
		f.serving[m.Host()] = "maintenance"
	}
	return &fakeRunning{f, m.Host()}, nil
}

func (f *fakeAPI) of(host string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serving[host]
}

type fakeRunning struct {
	api  *fakeAPI
	host string
}

func (f *fakeRunning) Add(netip.Addr) error { return nil }
func (f *fakeRunning) Remove(netip.Addr)    {}

func (f *fakeRunning) StopMachined() {
	f.api.mu.Lock()
	defer f.api.mu.Unlock()
	f.api.serving[f.host] = "without machined"
}

func (f *fakeRunning) Stop(bool) {
	f.api.mu.Lock()
	defer f.api.mu.Unlock()
	delete(f.api.serving, f.host)
}

// fakeKubernetes is a Kubernetes in which everything works at once.
type fakeKubernetes struct {
	mu       sync.Mutex
	data     map[string]cluster.ID
	members  map[string]cluster.Member
	planes   map[string]cluster.ControlPlane
	kubelets map[string]cluster.Kubelet
	applied  int
	joining  time.Duration // from the start of a member to its data
	// recovery is how a recovery ends; uploaded are the snapshots on the disks.
	recovery error
	uploaded map[string][]byte
	// unreached says that kubelets find no API server; registers has one register.
	unreached bool
	registers func(cluster.NodeState)
}

func newFakeKubernetes() *fakeKubernetes {
	return &fakeKubernetes{
		uploaded: map[string][]byte{},
		data:     map[string]cluster.ID{}, members: map[string]cluster.Member{},
		planes: map[string]cluster.ControlPlane{}, kubelets: map[string]cluster.Kubelet{},
	}
}

func (f *fakeKubernetes) StartEtcd(ctx context.Context, host string, member cluster.Member, _ bool) error {
	select {
	case <-time.After(f.joining):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data[host], f.members[host] = member.Cluster, member
	return nil
}

func (f *fakeKubernetes) StopEtcd(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, host)
}

func (f *fakeKubernetes) Initialized(id cluster.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range f.data {
		if known == id {
			return true
		}
	}
	return false
}

func (f *fakeKubernetes) HasData(host string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.data[host] != ""
}

func (f *fakeKubernetes) WipeEtcd(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.data, host)
}

func (f *fakeKubernetes) UploadSnapshot(host string, from io.Reader) error {
	snapshot, err := io.ReadAll(from)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.uploaded[host] = snapshot
	return err
}

func (f *fakeKubernetes) RecoverEtcd(_ context.Context, host string, member cluster.Member, _ bool, log func(string)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recovery != nil {
		return f.recovery
	}
	log("recovering etcd from snapshot: " + string(f.uploaded[host]))
	delete(f.uploaded, host)
	f.data[host] = member.Cluster
	return nil
}

func (f *fakeKubernetes) Members(context.Context, string) ([]cluster.MemberInfo, error) {
	return nil, nil
}
func (f *fakeKubernetes) RemoveMember(context.Context, string, uint64) error { return nil }

func (f *fakeKubernetes) Leave(_ context.Context, host string) error {
	f.StopEtcd(host)
	f.WipeEtcd(host)
	return nil
}

func (f *fakeKubernetes) MemberStatus(context.Context, string) (cluster.MemberStatus, error) {
	return cluster.MemberStatus{ID: 42}, nil
}
func (f *fakeKubernetes) Snapshot(context.Context, string, io.Writer) error { return nil }

func (f *fakeKubernetes) RunStaticPods(host string, plane cluster.ControlPlane, state func(cluster.StaticPod)) {
	f.mu.Lock()
	f.planes[host] = plane
	f.mu.Unlock()
	for _, pod := range plane.Pods {
		state(cluster.StaticPod{Name: pod.Name, Ready: true, Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		}})
	}
}

func (f *fakeKubernetes) StopStaticPods(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.planes, host)
}

func (f *fakeKubernetes) PodLog(_, pod string) []string { return []string{"a line of " + pod} }

func (f *fakeKubernetes) AuditLog(_, file string) (io.ReadCloser, error) {
	return nil, &fs.PathError{Op: "stat", Path: file, Err: fs.ErrNotExist}
}

func (f *fakeKubernetes) StartKubelet(host string, kubelet cluster.Kubelet, state func(cluster.NodeState)) {
	f.mu.Lock()
	f.kubelets[host] = kubelet
	f.registers = state
	unreached := f.unreached
	f.mu.Unlock()
	if unreached {
		return
	}
	state(cluster.NodeState{Registered: true, Ready: true})
}

func (f *fakeKubernetes) StopKubelet(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.kubelets, host)
}

func (f *fakeKubernetes) Apply(_ context.Context, _ cluster.ID, manifests []*unstructured.Unstructured) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.applied += len(manifests)
	return nil
}

func (f *fakeKubernetes) plane(host string) cluster.ControlPlane {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.planes[host]
}

func (f *fakeKubernetes) kubelet(host string) cluster.Kubelet {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kubelets[host]
}
