package kube

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

const (
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	providedIP    = "alpha.kubernetes.io/provided-node-ip"
	// cniMissing is the kubelet's message before there is a pod network.
	cniMissing = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady " +
		"message:Network plugin returns error: cni plugin not initialized"
)

// reserved is what Talos reserves on a node for itself and for eviction.
var reserved = map[corev1.ResourceName]resource.Quantity{
	corev1.ResourceCPU:              resource.MustParse("50m"),
	corev1.ResourceMemory:           resource.MustParse("484Mi"),
	corev1.ResourceEphemeralStorage: resource.MustParse("256Mi"),
}

func external(spec cluster.Kubelet) bool { return spec.Args["cloud-provider"] == "external" }

// newNode returns the Node that a kubelet registers.
func newNode(spec cluster.Kubelet, now metav1.Time) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: spec.Node, Labels: nodeLabels(spec), Annotations: nodeAnnotations(spec)},
		Spec:       corev1.NodeSpec{Taints: append(slices.Clone(spec.Taints), flagTaints(spec.Args["register-with-taints"])...)},
		Status:     nodeStatus(spec, false, nil, now),
	}
	// A kubelet does not call a cloud: without the flag the cloud controller sets it.
	node.Spec.ProviderID = spec.Args["provider-id"]
	if external(spec) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule})
	}
	return node
}

// flagLabels and flagTaints parse the kubelet's own flags, which a machine config can extend.
func flagLabels(flag string) map[string]string {
	labels := map[string]string{}
	for _, word := range strings.Split(flag, ",") {
		if key, value, _ := strings.Cut(word, "="); key != "" {
			labels[key] = value
		}
	}
	return labels
}

func flagTaints(flag string) []corev1.Taint {
	var taints []corev1.Taint
	for _, word := range strings.Split(flag, ",") {
		if name, effect, ok := strings.Cut(word, ":"); ok {
			key, value, _ := strings.Cut(name, "=")
			taints = append(taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
		}
	}
	return taints
}

func nodeLabels(spec cluster.Kubelet) map[string]string {
	labels := with(flagLabels(spec.Args["node-labels"]), spec.Labels)
	labels[corev1.LabelHostname] = spec.Node
	labels[corev1.LabelOSStable] = "linux"
	labels[corev1.LabelArchStable] = spec.Info.Architecture
	labels["beta.kubernetes.io/os"] = "linux"
	labels["beta.kubernetes.io/arch"] = spec.Info.Architecture
	return labels
}

func nodeAnnotations(spec cluster.Kubelet) map[string]string {
	annotations := with(nil, spec.Annotations)
	if external(spec) {
		annotations[providedIP] = joinIPs(spec.IPs)
	}
	annotations["volumes.kubernetes.io/controller-managed-attach-detach"] = "true"
	return annotations
}

func joinIPs(ips []netip.Addr) string {
	var words []string
	for _, ip := range ips {
		words = append(words, ip.String())
	}
	return strings.Join(words, ",")
}

// nodeStatus returns the status that a kubelet reports; before are the previous conditions.
func nodeStatus(spec cluster.Kubelet, network bool, before []corev1.NodeCondition, now metav1.Time) corev1.NodeStatus {
	status := corev1.NodeStatus{
		Capacity:        maps.Clone(spec.Capacity),
		NodeInfo:        spec.Info,
		Conditions:      nodeConditions(network, before, now),
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
	}
	if status.Capacity == nil {
		status.Capacity = corev1.ResourceList{}
	}
	if _, given := status.Capacity[corev1.ResourcePods]; !given {
		status.Capacity[corev1.ResourcePods] = resource.MustParse("110")
	}
	status.Allocatable = corev1.ResourceList{}
	for name, all := range status.Capacity {
		left := all.DeepCopy()
		if kept, some := reserved[name]; some && left.Cmp(kept) > 0 {
			left.Sub(kept)
		}
		status.Allocatable[name] = left
	}
	for _, ip := range spec.IPs {
		status.Addresses = append(status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip.String()})
	}
	status.Addresses = append(status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: spec.Node})
	return status
}

// nodeConditions returns the conditions that a kubelet sets, in its order and words.
func nodeConditions(network bool, before []corev1.NodeCondition, now metav1.Time) []corev1.NodeCondition {
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	if !network {
		ready = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: cniMissing}
	}
	conditions := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		ready,
	}
	for i := range conditions {
		conditions[i].LastHeartbeatTime, conditions[i].LastTransitionTime = now, now
		old := nodeCondition(before, conditions[i].Type)
		if old != nil && old.Status == conditions[i].Status {
			conditions[i].LastTransitionTime = old.LastTransitionTime
		}
	}
	return conditions
}

func nodeCondition(conditions []corev1.NodeCondition, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// outdated reports whether a Node differs from what its kubelet would report.
func outdated(node *corev1.Node, network bool) bool {
	for _, want := range nodeConditions(network, nil, metav1.Time{}) {
		is := nodeCondition(node.Status.Conditions, want.Type)
		if is == nil || is.Status != want.Status || is.Reason != want.Reason {
			return true
		}
	}
	return false
}

// adjust updates the metadata of an existing Node, and reports whether that changed anything. Labels and taints that Talos set by the previous spec and no
// longer wants are removed.
func adjust(node *corev1.Node, spec cluster.Kubelet, before *cluster.Kubelet) bool {
	old := node.DeepCopy()
	if before != nil {
		node.Labels = without(node.Labels, before.Labels)
		node.Annotations = without(node.Annotations, before.Annotations)
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return hasTaint(before.Taints, t) && !hasTaint(spec.Taints, t) })
	}
	node.Labels = with(node.Labels, nodeLabels(spec))
	node.Annotations = with(node.Annotations, nodeAnnotations(spec))
	for _, taint := range spec.Taints {
		if !hasTaint(node.Spec.Taints, taint) {
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
	}
	return !maps.Equal(old.Labels, node.Labels) || !maps.Equal(old.Annotations, node.Annotations) || !slices.EqualFunc(old.Spec.Taints, node.Spec.Taints, sameTaint)
}

func with(all, more map[string]string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}

func without(all, fewer map[string]string) map[string]string {
	maps.DeleteFunc(all, func(key, _ string) bool { _, gone := fewer[key]; return gone })
	return all
}

func hasTaint(taints []corev1.Taint, taint corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return sameTaint(t, taint) })
}

func sameTaint(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }

// held reports whether the Node has a taint with which controllers keep pods away from a node that is not Ready; they remove it some time after it is. The
// API adds one to every new Node, so a missing Node counts as held.
func held(node *corev1.Node) bool {
	return node == nil || slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable
	})
}

// nodeState returns the state of a Node as Talos uses it; nil means that it does not exist.
func nodeState(node *corev1.Node) cluster.NodeState {
	if node == nil {
		return cluster.NodeState{}
	}
	ready := nodeCondition(node.Status.Conditions, corev1.NodeReady)
	return cluster.NodeState{
		Registered: true, Ready: ready != nil && ready.Status == corev1.ConditionTrue,
		Unschedulable: node.Spec.Unschedulable,
		Labels:        node.Labels, Annotations: node.Annotations, Taints: node.Spec.Taints,
	}
}
