package kubevip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestWhichContainersItPlays(t *testing.T) {
	for image, want := range map[string]bool{
		"ghcr.io/kube-vip/kube-vip:v1.0.4":                 true,
		"ghcr.io/kube-vip/kube-vip-cloud-provider:v0.0.12": false,
	} {
		require.Equal(t, want, Program{}.Handles(&corev1.Pod{}, corev1.Container{Image: image}), image)
	}
}

// One pod holds the address. When it ends the other takes it: at once if the first
// could release its lease, and when the lease expires if its machine lost its power.
func TestTheLeaderHoldsTheAddress(t *testing.T) {
	for name, test := range map[string]struct {
		powerLost bool
		after     time.Duration
	}{
		"the pod is stopped":         {false, 3 * time.Second},
		"the machine lost its power": {true, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				first := l.start("cp-1", controlPlane)
				time.Sleep(2 * time.Second)
				require.Equal(t, "cp-1/eth0", l.holder("10.0.0.20"))
				second := l.start("cp-2", controlPlane)
				time.Sleep(30 * time.Second)
				require.Equal(t, "cp-1/eth0", l.holder("10.0.0.20"), "it does not move by itself")

				if test.powerLost {
					l.machines.lose("cp-1")
				}
				require.ErrorIs(t, first.stop(), context.Canceled)
				require.Empty(t, l.holder("10.0.0.20"))
				if test.powerLost {
					time.Sleep(3 * time.Second)
					require.Empty(t, l.holder("10.0.0.20"), "nobody knows yet that it is gone")
				}
				time.Sleep(test.after)
				require.Equal(t, "cp-2/eth0", l.holder("10.0.0.20"))
				require.ErrorIs(t, second.stop(), context.Canceled)
				lease, err := l.client.CoordinationV1().Leases("kube-system").Get(t.Context(), "plndr-cp-lock", metav1.GetOptions{})
				require.NoError(t, err)
				require.Empty(t, *lease.Spec.HolderIdentity, "a pod that ends releases the lease")
			})
		})
	}
}

func TestALeaderThatCannotRenewEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		pod := l.start("cp-1", controlPlane)
		time.Sleep(2 * time.Second)
		l.machines.lose("cp-1") // its calls do not arrive
		time.Sleep(10 * time.Second)
		require.EqualError(t, pod.ended(), "lost leadership, restarting kube-vip")
		require.Empty(t, l.holder("10.0.0.20"))
	})
}

func TestServicesGetTheirAddresses(t *testing.T) {
	ours, foreign := class, "example.org/other"
	service := func(name string, change func(*corev1.Service)) *corev1.Service {
		made := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{}},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
		}
		change(made)
		return made
	}
	services := []runtime.Object{
		service("annotated", func(s *corev1.Service) { s.Annotations[wantedAddresses] = "10.0.0.51, 10.0.0.52" }),
		service("given", func(s *corev1.Service) {
			s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.0.0.53"}}
		}),
		service("asked", func(s *corev1.Service) { s.Spec.LoadBalancerIP, s.Spec.LoadBalancerClass = "10.0.0.54", &ours }),
		service("foreign", func(s *corev1.Service) { s.Spec.LoadBalancerIP, s.Spec.LoadBalancerClass = "10.0.0.55", &foreign }),
		service("inside", func(s *corev1.Service) { s.Spec.LoadBalancerIP, s.Spec.Type = "10.0.0.56", corev1.ServiceTypeClusterIP }),
		service("waiting", func(*corev1.Service) {}),
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, services...)
		pod := l.start("cp-1", map[string]string{"svc_enable": "true", "vip_servicesinterface": "eth1"})
		time.Sleep(2 * time.Second)
		require.Equal(t, map[string]string{
			"10.0.0.51": "cp-1/eth1", "10.0.0.52": "cp-1/eth1", "10.0.0.53": "cp-1/eth1", "10.0.0.54": "cp-1/eth1",
		}, l.machines.all())
		for name, want := range map[string][]string{
			"annotated": {"10.0.0.51", "10.0.0.52"}, "given": {"10.0.0.53"}, "asked": {"10.0.0.54"}, "foreign": nil, "waiting": nil,
		} {
			read, err := l.client.CoreV1().Services("default").Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			var written []string
			for _, ingress := range read.Status.LoadBalancer.Ingress {
				written = append(written, ingress.IP)
			}
			require.Equal(t, want, written, name)
			require.Equal(t, want != nil, read.Annotations[holder] == "cp-1", name)
		}
		require.NoError(t, l.client.CoreV1().Services("default").Delete(t.Context(), "annotated", metav1.DeleteOptions{}))
		synctest.Wait()
		require.Empty(t, l.holder("10.0.0.51"))
		require.ErrorIs(t, pod.stop(), context.Canceled)
		require.Empty(t, l.machines.all())
	})
}

// It releases what it holds already, and the address that it could not get stays with
// its holder.
func TestAnAddressThatItCannotHaveEndsIt(t *testing.T) {
	service := func(name, address string) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, LoadBalancerIP: address},
		}
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, service("free", "10.0.0.51"))
		pod := l.start("cp-1", map[string]string{"svc_enable": "true"})
		time.Sleep(2 * time.Second)
		require.Equal(t, "cp-1/eth0", l.holder("10.0.0.51"))
		_, err := l.machines.Hold("w-1", "eth0", netip.MustParsePrefix("10.0.0.52/32"))
		require.NoError(t, err)
		_, err = l.client.CoreV1().Services("default").Create(t.Context(), service("taken", "10.0.0.52"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.EqualError(t, pod.ended(), "10.0.0.52/32 is held by w-1/eth0")
		require.Equal(t, map[string]string{"10.0.0.52": "w-1/eth0"}, l.machines.all())
	})
}

func TestWhatItNeeds(t *testing.T) {
	for want, change := range map[string]map[string]string{
		"no features are enabled":      {"cp_enable": ""},
		"only with vip_arp":            {"vip_arp": "false"},
		"only with vip_leaderelection": {"vip_leaderelection": ""},
		"svc_election":                 {"svc_election": "true"},
		"address: ":                    {"address": "cluster.example.org"},
		"cp_enable: ":                  {"cp_enable": "sure"},
		"vip_leaseduration: ":          {"vip_leaseduration": "long"},
		"could not get link for interface: link \"eth7\" is not there": {"vip_interface": "eth7"},
		"dial tcp 10.43.0.1:443: i/o timeout":                          {"KUBERNETES_SERVICE_HOST": ""},
		"leaseDuration must be greater than renewDeadline":             {"vip_leaseduration": "1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Namespace: "default"}, Spec: corev1.ServiceSpec{ClusterIP: "10.43.0.1"}})
			pod := l.start("cp-1", controlPlane, change)
			synctest.Wait()
			require.ErrorContains(t, pod.ended(), want)
		})
	}
	require.ErrorContains(t, Program{}.Run(t.Context(), cluster.Run{Kubeconfig: []byte("{")}), "kube-vip: ")
}

// The Service kubernetes is reachable once the network is up on the node.
func TestWithANetworkItNeedsNoOtherWay(t *testing.T) {
	agent := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "cilium-x", Namespace: "kube-system", Labels: map[string]string{"k8s-app": "cilium"}},
		Spec:       corev1.PodSpec{NodeName: "cp-1"},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, agent)
		pod := l.start("cp-1", controlPlane, map[string]string{"KUBERNETES_SERVICE_HOST": ""})
		time.Sleep(2 * time.Second)
		require.Equal(t, "cp-1/eth0", l.holder("10.0.0.20"))
		require.ErrorIs(t, pod.stop(), context.Canceled)
	})
}

var controlPlane = map[string]string{"cp_enable": "true", "address": "10.0.0.20"}

type lab struct {
	t        *testing.T
	client   *fake.Clientset
	machines *machines
	timeline *timeline.Timeline
}

func newLab(t *testing.T, objects ...runtime.Object) *lab {
	return &lab{
		t: t, client: fake.NewClientset(objects...), timeline: timeline.New(time.Now, nil),
		machines: &machines{held: map[netip.Addr]string{}, lost: map[string]bool{}},
	}
}

func (l *lab) holder(address string) string { return l.machines.all()[address] }

type pod struct {
	cancel context.CancelFunc
	done   chan error
}

// start runs a pod on a node.
func (l *lab) start(node string, envs ...map[string]string) pod {
	env := map[string]string{"vip_arp": "true", "vip_leaderelection": "true", "KUBERNETES_SERVICE_HOST": "127.0.0.1"}
	for _, more := range envs {
		for name, value := range more {
			env[name] = value
		}
	}
	run := cluster.Run{Host: node, Pod: &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}}, Env: env, Ready: func() {}}
	ctx, cancel := context.WithCancel(l.t.Context())
	one := pod{cancel: cancel, done: make(chan error, 1)}
	go func() { one.done <- Program{Machines: l.machines, Timeline: l.timeline}.serve(ctx, l.client, run) }()
	return one
}

func (p pod) stop() error {
	p.cancel()
	return p.ended()
}

func (p pod) ended() error { return <-p.done }

// machines have two links each.
type machines struct {
	mu   sync.Mutex
	held map[netip.Addr]string
	lost map[string]bool
}

func (m *machines) Link(_, name string) (string, error) {
	switch name {
	case "":
		return "eth0", nil
	case "eth0", "eth1":
		return name, nil
	}
	return "", fmt.Errorf("link %q is not there", name)
}

func (m *machines) Hold(machine, link string, address netip.Prefix) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if by := m.held[address.Addr()]; by != "" {
		return nil, errors.New(address.String() + " is held by " + by)
	}
	m.held[address.Addr()] = machine + "/" + link
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.held, address.Addr())
	}, nil
}

func (m *machines) Runs(machine string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.lost[machine]
}

func (m *machines) lose(machine string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost[machine] = true
}

func (m *machines) all() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]string{}
	for address, by := range m.held {
		found[address.String()] = by
	}
	return found
}
