package node

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// nodeStatusOwner is who says what Kubernetes thinks of the node.
const nodeStatusOwner = "k8s.NodeStatusController"

// kubeletSpecified waits for what the real controller starts the kubelet with.
func (n *node) kubeletSpecified(ctx context.Context) error {
	_, err := n.resources.State.WatchFor(ctx, k8s.NewKubeletSpec(k8s.NamespaceName, k8s.KubeletID).Metadata(), state.WithEventTypes(state.Created, state.Updated))
	return err
}

// runKubelet registers the node and runs pods on it.
func (n *node) runKubelet(ctx context.Context) error {
	spec, err := n.kubelet(ctx, n.resources.State)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.kubeletSpec = &spec
	n.mu.Unlock()
	n.Kubernetes.StartKubelet(n.Host(), spec, n.showNode)
	return nil
}

func (n *node) endKubelet() {
	n.mu.Lock()
	n.kubeletSpec = nil
	n.mu.Unlock()
	n.Kubernetes.StopKubelet(n.Host())
}

// reader is a state, or the view of it that a controller has.
type reader = controller.Reader

// kubelet is the kubelet as Talos' controllers want it.
func (n *node) kubelet(ctx context.Context, from reader) (cluster.Kubelet, error) {
	id, err := n.clusterID()
	if err != nil {
		return cluster.Kubelet{}, err
	}
	spec, err := safe.ReaderGetByID[*k8s.KubeletSpec](ctx, from, k8s.KubeletID)
	if err != nil {
		return cluster.Kubelet{}, err
	}
	name, err := safe.ReaderGetByID[*k8s.Nodename](ctx, from, k8s.NodenameID)
	if err != nil {
		return cluster.Kubelet{}, err
	}
	ips, err := safe.ReaderGetByID[*k8s.NodeIP](ctx, from, k8s.KubeletID)
	if err != nil && !state.IsNotFoundError(err) {
		return cluster.Kubelet{}, err
	}
	kubelet := cluster.Kubelet{
		Cluster: id, Node: name.TypedSpec().Nodename, Image: spec.TypedSpec().Image, Args: arguments(spec.TypedSpec().Args),
		Labels: map[string]string{}, Annotations: map[string]string{}, ProviderID: n.spec.ProviderID, Zone: n.spec.Zone,
	}
	if ips != nil {
		kubelet.IPs = ips.TypedSpec().Addresses
	}
	kubelet.Info, kubelet.Capacity = n.systemInfo(kubelet.Image), n.capacity()
	return kubelet, n.decorate(ctx, from, &kubelet, spec.TypedSpec().Config)
}

// decorate adds what Talos puts on the Node and what the kubelet registers with.
func (n *node) decorate(ctx context.Context, from reader, kubelet *cluster.Kubelet, config map[string]any) error {
	labels, err := safe.ReaderListAll[*k8s.NodeLabelSpec](ctx, from)
	if err != nil {
		return err
	}
	for label := range labels.All() {
		kubelet.Labels[label.TypedSpec().Key] = label.TypedSpec().Value
	}
	annotations, err := safe.ReaderListAll[*k8s.NodeAnnotationSpec](ctx, from)
	if err != nil {
		return err
	}
	for annotation := range annotations.All() {
		kubelet.Annotations[annotation.TypedSpec().Key] = annotation.TypedSpec().Value
	}
	taints, err := safe.ReaderListAll[*k8s.NodeTaintSpec](ctx, from)
	if err != nil {
		return err
	}
	for taint := range taints.All() {
		spec := taint.TypedSpec()
		kubelet.Taints = append(kubelet.Taints, corev1.Taint{Key: spec.Key, Value: spec.Value, Effect: corev1.TaintEffect(spec.Effect)})
	}
	registered, _ := config["registerWithTaints"].([]any)
	for _, entry := range registered {
		taint, _ := entry.(map[string]any)
		kubelet.Taints = addTaint(kubelet.Taints, corev1.Taint{
			Key: fmt.Sprint(taint["key"]), Value: text(taint["value"]), Effect: corev1.TaintEffect(text(taint["effect"])),
		})
	}
	for _, pair := range strings.Split(kubelet.Args["node-labels"], ",") {
		if key, value, found := strings.Cut(pair, "="); found {
			kubelet.Labels[key] = value
		}
	}
	return nil
}

func text(value any) string {
	text, _ := value.(string)
	return text
}

func addTaint(taints []corev1.Taint, taint corev1.Taint) []corev1.Taint {
	for _, other := range taints {
		if other.MatchTaint(&taint) {
			return taints
		}
	}
	return append(taints, taint)
}

// arguments takes "--name=value" apart.
func arguments(args []string) map[string]string {
	parsed := map[string]string{}
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if before, twice := parsed[name]; twice {
			value = before + "," + value
		}
		parsed[name] = value
	}
	return parsed
}

func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndex(path.Base(image), ":"); at >= 0 {
		return path.Base(image)[at+1:]
	}
	return ""
}

func (n *node) systemInfo(image string) corev1.NodeSystemInfo {
	return corev1.NodeSystemInfo{
		MachineID:  strings.ReplaceAll(derivedUUID(n.spec.UUID+"/machine-id"), "-", ""),
		SystemUUID: n.spec.UUID, BootID: n.bootID, KernelVersion: n.kernelVersion(),
		OSImage: fmt.Sprintf("Talos (v%s)", n.image.Talos), ContainerRuntimeVersion: "containerd://2.2.1",
		KubeletVersion: imageTag(image), KubeProxyVersion: "", OperatingSystem: "linux", Architecture: n.spec.Arch,
	}
}

func (n *node) capacity() corev1.ResourceList {
	var bytes uint64
	for _, disk := range n.disks() {
		if n.isSystem(disk) {
			bytes = disk.Bytes
		}
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:              *apiresource.NewQuantity(int64(n.CPUs()), apiresource.DecimalSI),
		corev1.ResourceMemory:           *apiresource.NewQuantity(int64(n.MemoryMiB())*mib, apiresource.BinarySI),
		corev1.ResourceEphemeralStorage: *apiresource.NewQuantity(int64(bytes), apiresource.BinarySI),
		corev1.ResourcePods:             *apiresource.NewQuantity(110, apiresource.DecimalSI),
	}
}

// showNode is told what Kubernetes thinks of the node.
func (n *node) showNode(seen cluster.NodeState) {
	if n.ctx.Err() != nil {
		return
	}
	name, err := safe.StateGetByID[*k8s.Nodename](n.ctx, n.resources.State, k8s.NodenameID)
	if err != nil {
		return // a node without a name has no Node
	}
	status := k8s.NewNodeStatus(k8s.NamespaceName, name.TypedSpec().Nodename)
	if !seen.Registered {
		err = drop(n.ctx, n.resources.State, nodeStatusOwner, status.Metadata())
	} else {
		err = put(n.ctx, n.resources.State, nodeStatusOwner, status, func(status *k8s.NodeStatus) {
			spec := status.TypedSpec()
			spec.Nodename, spec.NodeReady, spec.Unschedulable = name.TypedSpec().Nodename, seen.Ready, seen.Unschedulable
			spec.Labels, spec.Annotations = seen.Labels, seen.Annotations
		})
	}
	if err != nil && n.ctx.Err() == nil {
		n.logs.talos("controller failed: %v", err)
	}
}

// kubeletController restarts the kubelet when what it runs with changes.
func (n *node) kubeletController() controller.Controller {
	return &played{
		name: "k8s.KubeletServiceController",
		inputs: []controller.Input{
			reads(k8s.NamespaceName, k8s.KubeletSpecType), reads(k8s.NamespaceName, k8s.NodeLabelSpecType),
			reads(k8s.NamespaceName, k8s.NodeAnnotationSpecType), reads(k8s.NamespaceName, k8s.NodeTaintSpecType),
			reads(k8s.NamespaceName, k8s.NodenameType), reads(k8s.NamespaceName, k8s.NodeIPType),
			reads(v1alpha1.NamespaceName, v1alpha1.ServiceType),
		},
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			n.mu.Lock()
			running := n.kubeletSpec
			n.mu.Unlock()
			if running == nil {
				return nil
			}
			wanted, err := n.kubelet(ctx, r)
			if state.IsNotFoundError(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if reflect.DeepEqual(*running, wanted) {
				return nil
			}
			if running.Image != wanted.Image || !reflect.DeepEqual(running.Args, wanted.Args) {
				n.spawn(func(ctx context.Context) {
					if n.services.stop(ctx, "kubelet") == nil {
						n.services.start("kubelet")
					}
				})
				return nil
			}
			return n.runKubelet(ctx) // Talos' own labels and taints: no restart
		},
	}
}
