package kube

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// addresses are those of the nodes of the test's cluster.
var addresses = map[string]string{"cp-1": "10.0.0.11", "cp-2": "10.0.0.12", "w-1": "10.0.0.21"}

// life is a cluster under test.
type life struct {
	t        *testing.T
	talos    *talos
	network  *network.Host
	faults   *fault.Set
	timeline *timeline.Timeline
	kube     *Kubernetes
	program  *greeter
	client   *kubernetes.Clientset // through cp-1

	mu     sync.Mutex
	static map[string]cluster.StaticPod // by node and name
	nodes  map[string]cluster.NodeState
	noted  chan struct{}
}

// networkHost prepares the namespace that all tests of the package are in, which
// can be done once.
var networkHost = sync.OnceValues(func() (*network.Host, error) {
	return network.NewHost(slog.New(slog.DiscardHandler))
})

func sharedHost(t *testing.T) *network.Host {
	t.Helper()
	host, err := networkHost()
	require.NoError(t, err)
	return host
}

func newLife(t *testing.T) *life {
	t.Helper()
	binary := os.Getenv("SLUICE_CONTROLPLANE")
	if binary == "" {
		t.Fatal("SLUICE_CONTROLPLANE must name the binary controlplane, which the toolchain builds")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	host := sharedHost(t)
	for _, address := range addresses {
		require.NoError(t, host.Add(netip.MustParseAddr(address)))
	}
	speed, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	l := &life{
		t: t, talos: sharedTalos(t), network: host, program: &greeter{},
		timeline: timeline.New(time.Now, t.Output()),
		static:   map[string]cluster.StaticPod{}, nodes: map[string]cluster.NodeState{}, noted: make(chan struct{}),
	}
	l.faults = fault.NewSet(l.timeline)
	l.kube = New(Options{
		Dir: t.TempDir(), Binary: binary, Recovery: []string{self, recovery.Command}, Network: host, Pace: speed, Faults: l.faults, Timeline: l.timeline,
		Programs: []cluster.Program{l.program, caller{}}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(t, l.kube.Close(ctx))
		require.Empty(t, l.kube.Processes())
	})
	l.client = l.clientOf("cp-1")
	return l
}

// clientOf reaches the API server of one node at the node's own address.
func (l *life) clientOf(node string) *kubernetes.Clientset {
	config, err := clientcmd.RESTConfigFromKubeConfig(l.talos.kubeconfig("admin", "system:masters"))
	require.NoError(l.t, err)
	config.Host = "https://" + addresses[node] + ":6443"
	config.Timeout = 20 * time.Second
	client, err := kubernetes.NewForConfig(config)
	require.NoError(l.t, err)
	return client
}

// startControlPlane does on a node what Talos does.
func (l *life) startControlPlane(node string, bootstrap bool, extra map[string]string) {
	l.t.Helper()
	require.NoError(l.t, l.kube.StartEtcd(l.t.Context(), node, l.talos.member(node, addresses[node]), bootstrap))
	l.runStaticPods(node, extra)
	l.startKubelet(node, true)
}

func (l *life) runStaticPods(node string, extra map[string]string) {
	l.kube.RunStaticPods(node, l.talos.controlPlane(node, addresses[node], extra), func(pod cluster.StaticPod) {
		l.note(func() { l.static[node+"/"+pod.Name] = pod })
	})
}

func (l *life) startKubelet(node string, controlPlane bool) {
	l.kube.StartKubelet(node, l.talos.kubelet(node, addresses[node], controlPlane), func(state cluster.NodeState) {
		l.note(func() { l.nodes[node] = state })
	})
}

func (l *life) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.noted)
	l.noted = make(chan struct{})
}

// awaitState waits until the states that the nodes reported are as required.
func (l *life) awaitState(what string, as func() bool) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 30*time.Second)
	defer cancel()
	for {
		l.mu.Lock()
		fulfilled, noted := as(), l.noted
		l.mu.Unlock()
		if fulfilled {
			return
		}
		select {
		case <-noted:
		case <-ctx.Done():
			require.FailNow(l.t, "was never reported", what)
		}
	}
}

// awaitFact waits until this is the last such fact of the timeline.
func (l *life) awaitFact(subject, what, value string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 30*time.Second)
	defer cancel()
	last := ""
	for seen := 0; last != value; {
		facts, more := l.timeline.After(seen)
		for _, fact := range facts {
			seen = fact.Seq
			if fact.Subject == subject && fact.What == what {
				last = fact.Value
			}
		}
		if facts != nil {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			require.FailNow(l.t, "no fact", "%s %s %s; the last is %q", subject, what, value, last)
		}
	}
}

// await watches objects of a kind until one is as required, and returns it.
func await[T apiruntime.Object](l *life, resource, namespace string, selector labels.Selector, example T, what string, as func(T) bool) T {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 40*time.Second)
	defer cancel()
	getters := map[string]cache.Getter{
		"deployments": l.client.AppsV1().RESTClient(), "jobs": l.client.BatchV1().RESTClient(), "endpointslices": l.client.DiscoveryV1().RESTClient(),
		"csinodes": l.client.StorageV1().RESTClient(), "volumeattachments": l.client.StorageV1().RESTClient(),
	}
	getter, other := getters[resource]
	if !other {
		getter = l.client.CoreV1().RESTClient()
	}
	var found, last T
	list := cache.NewFilteredListWatchFromClient(getter, resource, namespace, func(options *metav1.ListOptions) {
		options.LabelSelector, options.FieldSelector = selector.String(), fields.Everything().String()
	})
	_, err := watchtools.UntilWithSync(ctx, list, example, nil, func(event watch.Event) (bool, error) {
		if object, ok := event.Object.(T); ok && event.Type != watch.Deleted {
			last = object
			if as(object) {
				found = object
				return true, nil
			}
		}
		return false, nil
	})
	require.NoError(l.t, err, "%s; last seen: %+v", what, last)
	return found
}

func (l *life) awaitNode(name, what string, as func(*corev1.Node) bool) *corev1.Node {
	l.t.Helper()
	return await(l, "nodes", "", labels.Everything(), &corev1.Node{}, what, func(node *corev1.Node) bool { return node.Name == name && as(node) })
}

func (l *life) awaitPod(app, what string, as func(*corev1.Pod) bool) *corev1.Pod {
	l.t.Helper()
	return await(l, "pods", corev1.NamespaceAll, labels.SelectorFromSet(labels.Set{"app": app}), &corev1.Pod{}, what, as)
}

func (l *life) arm(rule fault.Rule) string {
	l.t.Helper()
	id, err := l.faults.Add(rule)
	require.NoError(l.t, err)
	return id
}

func ready(node *corev1.Node) bool {
	condition := nodeCondition(node.Status.Conditions, corev1.NodeReady)
	return condition != nil && condition.Status == corev1.ConditionTrue
}
