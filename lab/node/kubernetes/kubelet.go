// Package kubernetes is what Talos runs of Kubernetes on a simulated node: the kubelet, etcd, and the static pods of a control plane with their files.
package kubernetes

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// nodeStatusOwner is the controller that publishes the state of the Node.
const nodeStatusOwner = "k8s.NodeStatusController"

// Configs is the machine config of the node.
type Configs interface {
	// ClusterID is the fingerprint of the Kubernetes CA that the config accepts.
	ClusterID() (cluster.ID, error)
	// ServiceImage is the image of a service.
	ServiceImage(id string) string
	MachineType() machine.Type
}

// Services are the services of the node.
type Services interface {
	Start(id string)
	Stop(ctx context.Context, ids ...string) error
	IsUp(id string) bool
	MakeOptional(id string)
	Unload(id string)
}

// Kubelet is the kubelet of one boot.
type Kubelet struct {
	boot     *boot.Boot
	configs  Configs
	services Services
	images   cluster.Images
	// systemDisk is the size of Talos' disk.
	systemDisk func() uint64

	mu      sync.Mutex
	running *cluster.Kubelet // nil while it does not run
	// spec is what Talos wrote for the kubelet that runs.
	spec k8s.KubeletSpecSpec
}

// NewKubelet returns a kubelet that does not run.
func NewKubelet(of *boot.Boot, configs Configs, services Services, images cluster.Images, systemDisk func() uint64) *Kubelet {
	return &Kubelet{boot: of, configs: configs, services: services, images: images, systemDisk: systemDisk}
}

// Specified waits for the specification with which the real controller starts the kubelet.
func (k *Kubelet) Specified(ctx context.Context) error {
	_, err := k.boot.State.WatchFor(ctx, k8s.NewKubeletSpec(k8s.NamespaceName, k8s.KubeletID).Metadata(), state.WithEventTypes(state.Created, state.Updated))
	return err
}

// Run registers the node and runs pods on it.
func (k *Kubelet) Run(ctx context.Context) error {
	kubelet, spec, err := k.wanted(ctx, k.boot.State)
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.running, k.spec = &kubelet, spec
	k.mu.Unlock()
	if flag, unknown := unknownFlag(spec.Args); unknown {
		k.boot.Logs.Service("kubelet").Add(fmt.Sprintf(`E%s 1 run.go:72] "command failed" err="failed to parse kubelet flag: unknown flag: --%s"`,
			time.Now().UTC().Format("0102 15:04:05.000000"), flag))
		return &boot.ExitError{Service: "kubelet", Code: 1}
	}
	k.boot.Kubernetes.StartKubelet(k.boot.Host(), kubelet, k.show)
	return nil
}

// End stops the kubelet.
func (k *Kubelet) End() {
	k.mu.Lock()
	k.running = nil
	k.mu.Unlock()
	k.boot.Kubernetes.StopKubelet(k.boot.Host())
}

// reader is the state, or a controller's view of it.
type reader = controller.Reader

// wanted returns the kubelet as Talos' controllers specify it, and the specification.
func (k *Kubelet) wanted(ctx context.Context, from reader) (cluster.Kubelet, k8s.KubeletSpecSpec, error) {
	none := k8s.KubeletSpecSpec{}
	id, err := k.configs.ClusterID()
	if err != nil {
		return cluster.Kubelet{}, none, err
	}
	spec, err := safe.ReaderGetByID[*k8s.KubeletSpec](ctx, from, k8s.KubeletID)
	if err != nil {
		return cluster.Kubelet{}, none, err
	}
	name, err := safe.ReaderGetByID[*k8s.Nodename](ctx, from, k8s.NodenameID)
	if err != nil {
		return cluster.Kubelet{}, none, err
	}
	ips, err := safe.ReaderGetByID[*k8s.NodeIP](ctx, from, k8s.KubeletID)
	if err != nil && !state.IsNotFoundError(err) {
		return cluster.Kubelet{}, none, err
	}
	kubelet := cluster.Kubelet{
		Cluster: id, Node: name.TypedSpec().Nodename, Image: spec.TypedSpec().Image, Args: arguments(spec.TypedSpec().Args),
		Labels: map[string]string{}, Annotations: map[string]string{}, ProviderID: k.boot.Spec.ProviderID, Zone: k.boot.Spec.Zone,
		Images: k.images,
	}
	if ips != nil {
		kubelet.IPs = ips.TypedSpec().Addresses
	}
	kubelet.Info, kubelet.Capacity = k.systemInfo(kubelet.Image), k.capacity()
	if err := k.decorate(ctx, from, &kubelet, spec.TypedSpec().Config); err != nil {
		return cluster.Kubelet{}, none, err
	}
	return kubelet, *spec.TypedSpec(), nil
}

// decorate adds labels, annotations and taints: Talos' own, and those with which the kubelet registers.
func (k *Kubelet) decorate(ctx context.Context, from reader, kubelet *cluster.Kubelet, config map[string]any) error {
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

// arguments parses "--name=value".
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

func (k *Kubelet) systemInfo(image string) corev1.NodeSystemInfo {
	return corev1.NodeSystemInfo{
		MachineID:  strings.ReplaceAll(boot.DerivedUUID(k.boot.Spec.UUID+"/machine-id"), "-", ""),
		SystemUUID: k.boot.Spec.UUID, BootID: k.boot.ID, KernelVersion: k.boot.Kernel(),
		OSImage: fmt.Sprintf("Talos (v%s)", k.boot.Image.Talos), ContainerRuntimeVersion: "containerd://2.2.1",
		KubeletVersion: imageTag(image), KubeProxyVersion: "", OperatingSystem: "linux", Architecture: k.boot.Spec.Arch,
	}
}

func (k *Kubelet) capacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *apiresource.NewQuantity(int64(k.boot.Spec.CPUs), apiresource.DecimalSI),
		corev1.ResourceMemory:           *apiresource.NewQuantity(int64(k.boot.Spec.MemoryMiB)<<20, apiresource.BinarySI),
		corev1.ResourceEphemeralStorage: *apiresource.NewQuantity(int64(k.systemDisk()), apiresource.BinarySI),
		corev1.ResourcePods:             *apiresource.NewQuantity(110, apiresource.DecimalSI),
	}
}

// show publishes the state of the Node.
func (k *Kubelet) show(seen cluster.NodeState) {
	if k.boot.Ctx.Err() != nil {
		return
	}
	name, err := safe.StateGetByID[*k8s.Nodename](k.boot.Ctx, k.boot.State, k8s.NodenameID)
	if err != nil {
		return // a node without a name has no Node
	}
	status := k8s.NewNodeStatus(k8s.NamespaceName, name.TypedSpec().Nodename)
	if !seen.Registered {
		err = resources.Drop(k.boot.Ctx, k.boot.State, nodeStatusOwner, status.Metadata())
	} else {
		err = resources.Put(k.boot.Ctx, k.boot.State, nodeStatusOwner, status, func(status *k8s.NodeStatus) {
			spec := status.TypedSpec()
			spec.Nodename, spec.NodeReady, spec.Unschedulable = name.TypedSpec().Nodename, seen.Ready, seen.Unschedulable
			spec.Labels, spec.Annotations = seen.Labels, seen.Annotations
		})
	}
	if err != nil && k.boot.Ctx.Err() == nil {
		k.boot.Logs.Talos("controller failed: %v", err)
	}
}

// Controller restarts the kubelet when anything in its specification changes, as Talos does.
func (k *Kubelet) Controller() controller.Controller {
	return &resources.Simulated{
		Real: "k8s.KubeletServiceController",
		Reads: []controller.Input{
			resources.Reads(k8s.NamespaceName, k8s.KubeletSpecType), resources.Reads(k8s.NamespaceName, k8s.NodeLabelSpecType),
			resources.Reads(k8s.NamespaceName, k8s.NodeAnnotationSpecType), resources.Reads(k8s.NamespaceName, k8s.NodeTaintSpecType),
			resources.Reads(k8s.NamespaceName, k8s.NodenameType), resources.Reads(k8s.NamespaceName, k8s.NodeIPType),
			resources.Reads(v1alpha1.NamespaceName, v1alpha1.ServiceType),
		},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			k.mu.Lock()
			running, started := k.running, k.spec
			k.mu.Unlock()
			if running == nil {
				return nil
			}
			wanted, spec, err := k.wanted(ctx, r)
			if state.IsNotFoundError(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(started, spec) {
				k.boot.Spawn(func(ctx context.Context) {
					if k.services.Stop(ctx, "kubelet") == nil {
						k.services.Start("kubelet")
					}
				})
				return nil
			}
			if reflect.DeepEqual(*running, wanted) {
				return nil
			}
			return k.Run(ctx) // Talos' own labels and taints: no restart
		},
	}
}
