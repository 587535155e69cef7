package cilium

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestWhichContainersItPlays(t *testing.T) {
	operator := corev1.Container{Name: "cilium-operator", Image: "quay.io/cilium/operator-generic:v1.18.8@sha256:abc"}
	require.True(t, Operator{Definitions: "/d"}.Handles(nil, operator))
	require.False(t, Operator{}.Handles(nil, operator), "it would have no kinds to make known")
	require.False(t, Operator{Definitions: "/d"}.Handles(nil, corev1.Container{Name: "cilium-agent", Image: "quay.io/cilium/cilium:v1.18.8"}))
	require.False(t, Operator{Definitions: "/d"}.Handles(nil, corev1.Container{Name: "manager", Image: "example.org/operator:v1"}))
}

func TestEachServiceGetsItsAddress(t *testing.T) {
	pools := []pool{poolFrom(t, `{metadata: {name: a}, spec: {blocks: [{start: 10.0.1.1, stop: 10.0.1.2}]}}`),
		poolFrom(t, `{metadata: {name: b}, spec: {blocks: [{cidr: 10.0.2.0/31}], serviceSelector: {matchLabels: {app: b}}}}`),
		poolFrom(t, `{metadata: {name: c}, spec: {blocks: [{start: 10.0.3.1}], disabled: true}}`)}
	services := []*corev1.Service{
		service("first", 1), service("second", 2), service("third", 3),
		service("has", 9, func(s *corev1.Service) {
			s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.0.1.2"}}
		}),
		service("foreign", 4, func(s *corev1.Service) { s.Spec.LoadBalancerClass = pointer("example.org/other") }),
		service("inside", 4, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }),
		service("asks", 8, func(s *corev1.Service) {
			s.Labels = map[string]string{"app": "b"}
			s.Annotations = map[string]string{"lbipam.cilium.io/ips": "10.0.2.1"}
		}),
		service("asks-twice", 9, func(s *corev1.Service) { s.Spec.LoadBalancerIP = "10.0.2.1" }),
		service("selected", 9, func(s *corev1.Service) { s.Labels = map[string]string{"app": "b"} }),
		service("lost", 9, func(s *corev1.Service) {
			s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.9.9.9"}}
		}),
	}
	got := map[string]string{}
	for name, decision := range give(pools, services) {
		got[name] = decision.reason
		for _, address := range decision.addresses {
			got[name] += address.String()
		}
	}
	require.Equal(t, map[string]string{
		"d/has": "10.0.1.2", "d/first": "10.0.1.1", "d/asks": "10.0.2.1", "d/selected": "10.0.2.0",
		"d/second": "out_of_ips", "d/third": "out_of_ips", "d/asks-twice": "already_allocated", "d/lost": "out_of_ips",
	}, got)
	require.Equal(t, "no_pool", give(pools[2:], services[:1])["d/first"].reason)
}

func TestTheLastAddressOfABlock(t *testing.T) {
	for cidr, want := range map[string]string{
		"10.0.2.0/31": "10.0.2.0-10.0.2.1", "10.0.2.77/24": "10.0.2.0-10.0.2.255", "0.0.0.0/0": "0.0.0.0-255.255.255.255",
		"10.0.2.1/32": "10.0.2.1-10.0.2.1", "fd00::/64": "fd00::-fd00::ffff:ffff:ffff:ffff", "fd00::10/125": "fd00::10-fd00::17",
	} {
		one, err := blockOf(cidr, "", "")
		require.NoError(t, err)
		require.Equal(t, want, one.first.String()+"-"+one.last.String(), cidr)
	}
}

func TestPoolsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{
		`{spec: {blocks: [{cidr: 10.0.0.0}]}}`, `{spec: {blocks: [{start: x}]}}`, `{spec: {blocks: [{start: 10.0.0.1, stop: x}]}}`,
		`{spec: []}`, `{spec: {serviceSelector: {matchExpressions: [{key: a, operator: Sometimes}]}}}`,
	} {
		_, err := poolOf(object(t, text))
		require.Error(t, err, text)
	}
}

// The operator from its start: it is Ready when the API serves its kinds, and then
// gives out addresses.
func TestTheOperator(t *testing.T) {
	folder := t.TempDir()
	for i, file := range kinds {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755))
		name := []string{"ciliumloadbalancerippools", "ciliuml2announcementpolicies"}[i]
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "+name+".cilium.io}}"), 0o600))
	}
	client, objects := fake.NewClientset(service("web", 1)), newObjects(t)
	fast, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	facts := timeline.New(time.Now, nil)
	operator := Operator{Definitions: folder, Pace: fast, Timeline: facts, IsHeard: func(string) bool { return true }}
	ready := make(chan struct{})
	run := cluster.Run{
		Host: "cp-1", Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "cilium-operator-x", Namespace: "kube-system"}},
		Ready: func() { close(ready) },
	}
	services, err := client.CoreV1().Services("d").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := operator.operate(ctx, client, objects, run); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	<-ready
	for _, name := range []string{"ciliumloadbalancerippools.cilium.io", "ciliuml2announcementpolicies.cilium.io"} {
		_, err := objects.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err, name)
	}
	require.Equal(t, "no_pool", awaitCondition(t, services).Reason)
	_, err = objects.Resource(poolKind).Create(ctx, object(t, `{apiVersion: cilium.io/v2, kind: CiliumLoadBalancerIPPool, metadata: {name: a}, spec: {blocks: [{start: 10.0.1.7, stop: 10.0.1.9}]}}`), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "satisfied", awaitCondition(t, services).Reason)
	web, err := client.CoreV1().Services("d").Get(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, []netip.Addr{netip.MustParseAddr("10.0.1.7")}, addressesOf(web))
}

func TestAnAPIThatDoesNotTakeWhatItIsToldEndsIt(t *testing.T) {
	client := fake.NewClientset(service("web", 1))
	client.PrependReactor("patch", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("etcdserver: request timed out")
	})
	err := giver{client: client, timeline: timeline.New(time.Now, nil)}.run(t.Context(), newObjects(t))
	require.EqualError(t, err, "etcdserver: request timed out")
}

func TestDefinitionsThatAreNotThere(t *testing.T) {
	require.ErrorContains(t, register(t.Context(), newObjects(t), t.TempDir()), "no such file")
	require.ErrorContains(t, Operator{}.Run(t.Context(), cluster.Run{Kubeconfig: []byte("{")}), "cilium-operator: ")
}

// newObjects returns an API that serves each kind as soon as its definition is created.
func newObjects(t *testing.T) dynamic.Interface {
	t.Helper()
	objects := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		definitions: "CustomResourceDefinitionList", poolKind: "CiliumLoadBalancerIPPoolList",
	})
	objects.PrependWatchReactor("customresourcedefinitions", func(clienttesting.Action) (bool, watch.Interface, error) {
		changes := watch.NewFake()
		go changes.Modify(object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: Established, status: "True"}]}}`))
		return true, changes, nil
	})
	return objects
}

func awaitCondition(t *testing.T, services watch.Interface) metav1.Condition {
	t.Helper()
	for {
		select {
		case event := <-services.ResultChan():
			if service, is := event.Object.(*corev1.Service); is && len(service.Status.Conditions) > 0 {
				return service.Status.Conditions[0]
			}
		case <-t.Context().Done():
			t.Fatal("nothing happened to the Service")
		}
	}
}

func service(name string, age int64, changes ...func(*corev1.Service)) *corev1.Service {
	made := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d", CreationTimestamp: metav1.Unix(age, 0)},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	for _, change := range changes {
		change(made)
	}
	return made
}

func poolFrom(t *testing.T, text string) pool {
	t.Helper()
	found, err := poolOf(object(t, text))
	require.NoError(t, err)
	return found
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &made.Object))
	return made
}

func pointer(text string) *string { return &text }
