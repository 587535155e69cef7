package kube

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

func kubeletSpec() cluster.Kubelet {
	return cluster.Kubelet{
		Node: "w-1", IPs: []netip.Addr{netip.MustParseAddr("10.0.0.21")}, Args: map[string]string{},
		Info:     corev1.NodeSystemInfo{Architecture: "arm64"},
		Labels:   map[string]string{"zone": "a"},
		Taints:   []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}},
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	}
}

func TestNewNode(t *testing.T) {
	node := newNode(kubeletSpec(), metav1.Now())
	require.Empty(t, node.Spec.ProviderID, "it asks no cloud")
	require.Equal(t, kubeletSpec().Taints, node.Spec.Taints)
	require.Equal(t, map[string]string{
		"zone": "a", "kubernetes.io/hostname": "w-1", "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm64",
	}, node.Labels)
	require.Equal(t, []corev1.NodeAddress{{Type: "InternalIP", Address: "10.0.0.21"}, {Type: "Hostname", Address: "w-1"}}, node.Status.Addresses)
	require.Equal(t, int64(1950), node.Status.Allocatable.Cpu().MilliValue())
	require.Equal(t, int64(110), node.Status.Allocatable.Pods().Value())
	require.False(t, nodeState(node).Ready)

	spec := kubeletSpec()
	spec.Args["cloud-provider"] = "external"
	node = newNode(spec, metav1.Now())
	require.Contains(t, node.Spec.Taints, corev1.Taint{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule})
	require.Equal(t, "10.0.0.21", node.Annotations[providedIP])
}

func TestKubeletFlags(t *testing.T) {
	spec := kubeletSpec()
	spec.Args = map[string]string{"node-labels": "a=b,zone=flag,bare", "register-with-taints": "gpu=yes:NoSchedule,old:NoExecute", "provider-id": "other://1"}
	node := newNode(spec, metav1.Now())
	require.Equal(t, "b", node.Labels["a"])
	require.Contains(t, node.Labels, "bare")
	require.Equal(t, "a", node.Labels["zone"], "Talos' own come after")
	require.Equal(t, "other://1", node.Spec.ProviderID)
	require.Equal(t, []corev1.Taint{
		{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule},
		{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule},
		{Key: "old", Effect: corev1.TaintEffectNoExecute},
	}, node.Spec.Taints)
}

func TestAdjust(t *testing.T) {
	before := kubeletSpec()
	node := newNode(before, metav1.Now())
	node.Labels["others"] = "stay"
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "others", Effect: corev1.TaintEffectNoExecute})
	require.False(t, adjust(node, before, &before), "nothing changed")

	now := kubeletSpec()
	now.Labels = map[string]string{"role": "db"}
	now.Taints = nil
	require.True(t, adjust(node, now, &before))
	require.NotContains(t, node.Labels, "zone")
	require.Equal(t, "db", node.Labels["role"])
	require.Equal(t, "stay", node.Labels["others"])
	require.Equal(t, []corev1.Taint{{Key: "others", Effect: corev1.TaintEffectNoExecute}}, node.Spec.Taints)
}

func TestOutdated(t *testing.T) {
	node := newNode(kubeletSpec(), metav1.Now())
	require.False(t, outdated(node, false))
	require.True(t, outdated(node, true), "the network came")
	node.Status.Conditions = nodeConditions(true, nil, metav1.Now())
	require.False(t, outdated(node, true))
	nodeCondition(node.Status.Conditions, corev1.NodeReady).Status = corev1.ConditionUnknown
	require.True(t, outdated(node, true), "others treat it as lost")
}

func TestHeld(t *testing.T) {
	node := newNode(kubeletSpec(), metav1.Now())
	require.True(t, held(nil), "a new one comes with a taint")
	require.False(t, held(node), "other taints say nothing about its health")
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
			tainted := node.DeepCopy()
			tainted.Spec.Taints = append(tainted.Spec.Taints, corev1.Taint{Key: key, Effect: effect})
			require.True(t, held(tainted), "%s:%s", key, effect)
		}
	}
}

func TestNodePatchLeavesAddressesToTheCloud(t *testing.T) {
	for external, has := range map[bool]bool{true: false, false: true} {
		patch, err := nodePatch(nodeStatus(kubeletSpec(), true, nil, metav1.Now()), external)
		require.NoError(t, err)
		var fields map[string]map[string]any
		require.NoError(t, json.Unmarshal(patch, &fields))
		require.Equal(t, has, fields["status"]["addresses"] != nil)
	}
}

func TestCNIAgents(t *testing.T) {
	yes := true
	owners := []metav1.OwnerReference{{Kind: "DaemonSet", Controller: &yes}}
	for name, test := range map[string]struct {
		meta metav1.ObjectMeta
		cni  string
	}{
		"cilium's agent":            {metav1.ObjectMeta{OwnerReferences: owners, Labels: map[string]string{"k8s-app": "cilium"}}, "cilium"},
		"flannel by k8s-app":        {metav1.ObjectMeta{OwnerReferences: owners, Labels: map[string]string{"k8s-app": "flannel"}}, "flannel"},
		"flannel by app":            {metav1.ObjectMeta{OwnerReferences: owners, Labels: map[string]string{"app": "flannel"}}, "flannel"},
		"another DaemonSet":         {metav1.ObjectMeta{OwnerReferences: owners, Labels: map[string]string{"k8s-app": "cilium-envoy"}}, ""},
		"a pod of no DaemonSet":     {metav1.ObjectMeta{Labels: map[string]string{"k8s-app": "cilium"}}, ""},
		"a pod without such labels": {metav1.ObjectMeta{OwnerReferences: owners}, ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.cni, cniOf(&corev1.Pod{ObjectMeta: test.meta})) })
	}
}

func TestDriverOf(t *testing.T) {
	for name, test := range map[string]struct {
		container corev1.Container
		driver    string
	}{
		"in one word":           {corev1.Container{Name: "node-driver-registrar", Args: []string{"--v=5", "--kubelet-registration-path=/var/lib/kubelet/plugins/csi.a/csi.sock"}}, "csi.a"},
		"in two words":          {corev1.Container{Name: "csi-node-driver-registrar", Args: []string{"--kubelet-registration-path", "/k/plugins/csi.b/socket"}}, "csi.b"},
		"by its image":          {corev1.Container{Name: "registrar", Image: "r/csi-node-driver-registrar:v2", Args: []string{"-kubelet-registration-path=/k/plugins/csi.c/s"}}, "csi.c"},
		"with the environment":  {corev1.Container{Name: "driver-registrar", Args: []string{"--kubelet-registration-path=$(SOCK)"}, Env: []corev1.EnvVar{{Name: "SOCK", Value: "/k/csi.d/s"}}}, "csi.d"},
		"not another container": {corev1.Container{Name: "csi-attacher", Args: []string{"--kubelet-registration-path=/k/csi.e/s"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.driver, driverOf(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{test.container}}}))
		})
	}
}

func TestCSINode(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-1", UID: "u"}}
	object := csiNode(node, map[types.UID]string{"1": "csi.hetzner.cloud", "2": "csi.example", "3": "csi.example"}, "hcloud://42", "fsn1-dc14")
	require.Equal(t, "w-1", object.OwnerReferences[0].Name)
	require.Len(t, object.Spec.Drivers, 2)
	require.Equal(t, "csi.example", object.Spec.Drivers[0].Name)
	require.Equal(t, "w-1", object.Spec.Drivers[0].NodeID)
	require.Equal(t, "42", object.Spec.Drivers[1].NodeID)
	require.Equal(t, []string{"csi.hetzner.cloud/location"}, object.Spec.Drivers[1].TopologyKeys)
	require.Equal(t, map[string]string{"csi.hetzner.cloud/location": "fsn1"}, placeOf("csi.hetzner.cloud", node, "fsn1-dc14"))
	require.NotNil(t, csiNode(node, nil, "", "").Spec.Drivers, "an empty list is a list")
}

func TestAddressesOfPods(t *testing.T) {
	pods := ipam{}
	require.False(t, pods.known.open())
	pods.setRanges([]string{"10.244.1.0/29", "fd00::/64"})
	require.True(t, pods.known.open())
	require.Equal(t, "10.244.1.2,fd00::2", joinIPs(pods.take("a")))
	require.Equal(t, "10.244.1.3,fd00::3", joinIPs(pods.take("b")))
	pods.release("a")
	require.Equal(t, "10.244.1.2,fd00::2", joinIPs(pods.take("c")), "the lowest that is free")
	for range 4 {
		pods.take("d")
	}
	require.Equal(t, "fd00::8", joinIPs(pods.take("e")), "a range that is full gives none")
}
