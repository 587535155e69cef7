package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	k8sadapter "github.com/siderolabs/talos/internal/app/machined/pkg/adapters/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// staticPodOwner is the controller that publishes the static pods.
const staticPodOwner = "k8s.KubeletStaticPodController"

// ControlPlane is the static pods of one boot, and the files of a control plane.
type ControlPlane struct {
	boot     *boot.Boot
	configs  Configs
	clusters *Clusters
	doors    *Doors
	files    *files
	// applied are the manifests that were applied last. Only their controller uses it.
	applied []string

	mu sync.Mutex
	// reported are the pods by the id of their status, as the kubelet reports them last.
	reported map[string]corev1.PodStatus
	// mayAsk says that Talos may ask the kubelet for pods: it checks that with an API
	// server, once it has found one.
	mayAsk bool
}

// NewControlPlane returns a boot in which no static pod runs.
func NewControlPlane(of *boot.Boot, configs Configs, clusters *Clusters, doors *Doors) *ControlPlane {
	return &ControlPlane{boot: of, configs: configs, clusters: clusters, doors: doors, files: newFiles(), reported: map[string]corev1.PodStatus{}}
}

// ControlPlaneControllers are for control planes only.
func (p *ControlPlane) ControlPlaneControllers() []controller.Controller {
	return []controller.Controller{p.secretsController(), p.configsController(), p.manifestController()}
}

// StopPods stops the static pods.
func (p *ControlPlane) StopPods() { p.boot.Kubernetes.StopStaticPods(p.boot.Host()) }

// Controller runs the static pods that Talos' controllers have created, while the kubelet runs. It runs on every node.
func (p *ControlPlane) Controller() controller.Controller {
	var running *cluster.ControlPlane
	return &resources.Simulated{
		Real: staticPodOwner,
		Reads: []controller.Input{
			resources.Reads(k8s.NamespaceName, k8s.StaticPodType), resources.Reads(v1alpha1.NamespaceName, v1alpha1.ServiceType),
			resources.Reads(k8s.ControlPlaneNamespaceName, k8s.SecretsStatusType), resources.Reads(k8s.ControlPlaneNamespaceName, k8s.ConfigStatusType),
			resources.Reads(k8s.ControlPlaneNamespaceName, k8s.APIServerConfigType), resources.Reads(secrets.NamespaceName, secrets.KubernetesType),
			resources.Reads(k8s.NamespaceName, k8s.NodeIPType), resources.Reads(k8s.NamespaceName, k8s.NodenameType),
			resources.Reads(k8s.NamespaceName, k8s.NodeStatusType),
		},
		Writes: []controller.Output{resources.Writes(k8s.StaticPodStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			kubelet, err := safe.ReaderGetByID[*v1alpha1.Service](ctx, r, "kubelet")
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			if kubelet == nil || !kubelet.TypedSpec().Running {
				if running != nil {
					running = nil
					p.boot.Kubernetes.StopStaticPods(p.boot.Host())
					p.doors.lead(netip.AddrPort{})
				}
				return p.forgetPods(ctx, nil)
			}
			if err := p.askKubelet(ctx, r); err != nil {
				return err
			}
			wanted, err := p.wanted(ctx, r)
			if state.IsNotFoundError(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if len(wanted.Pods) == 0 && running == nil || running != nil && reflect.DeepEqual(*running, wanted) {
				return nil
			}
			running = &wanted
			p.boot.Kubernetes.RunStaticPods(p.boot.Host(), wanted, func(pod cluster.StaticPod) { p.showPod(wanted, pod) })
			var ids []string
			for _, pod := range wanted.Pods {
				ids = append(ids, staticPodID(pod.Namespace, pod.Name, wanted.Node))
			}
			return p.forgetPods(ctx, ids)
		},
	}
}

func staticPodID(namespace, name, node string) string {
	return fmt.Sprintf("%s/%s-%s", namespace, name, node)
}

// wanted is everything that Kubernetes needs from this node to run its pods.
func (p *ControlPlane) wanted(ctx context.Context, r controller.Reader) (cluster.ControlPlane, error) {
	id, err := p.configs.ClusterID()
	if err != nil {
		return cluster.ControlPlane{}, err
	}
	name, err := safe.ReaderGetByID[*k8s.Nodename](ctx, r, k8s.NodenameID)
	if err != nil {
		return cluster.ControlPlane{}, err
	}
	ips, err := safe.ReaderGetByID[*k8s.NodeIP](ctx, r, k8s.KubeletID)
	if err != nil {
		return cluster.ControlPlane{}, err
	}
	spec := cluster.ControlPlane{Cluster: id, Node: name.TypedSpec().Nodename, Files: p.files.all()}
	if addresses := ips.TypedSpec().Addresses; len(addresses) > 0 {
		spec.Address = addresses[0]
	}
	pods, err := safe.ReaderListAll[*k8s.StaticPod](ctx, r)
	if err != nil {
		return cluster.ControlPlane{}, err
	}
	for static := range pods.All() {
		if static.Metadata().Phase() != resource.PhaseRunning {
			continue
		}
		pod, err := k8sadapter.StaticPod(static).Pod()
		if err != nil {
			return cluster.ControlPlane{}, fmt.Errorf("static pod %s: %w", static.Metadata().ID(), err)
		}
		spec.Pods = append(spec.Pods, pod)
	}
	if !p.configs.MachineType().IsControlPlane() {
		return spec, nil
	}
	return spec, p.addAdmin(ctx, r, &spec)
}

// addAdmin adds the API server's address, and the lab's credentials.
func (p *ControlPlane) addAdmin(ctx context.Context, r controller.Reader, spec *cluster.ControlPlane) error {
	server, err := safe.ReaderGetByID[*k8s.APIServerConfig](ctx, r, k8s.APIServerConfigID)
	if state.IsNotFoundError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	spec.Port = uint16(server.TypedSpec().LocalPort)
	certificates, err := safe.ReaderGetByID[*secrets.Kubernetes](ctx, r, secrets.KubernetesID)
	if state.IsNotFoundError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	config, err := clientcmd.Load([]byte(certificates.TypedSpec().LocalhostAdminKubeconfig))
	if err != nil {
		return fmt.Errorf("the admin kubeconfig: %w", err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + net.JoinHostPort(spec.Address.String(), strconv.Itoa(int(spec.Port)))
	}
	spec.AdminKubeconfig, err = clientcmd.Write(*config)
	return err
}

// showPod publishes the state of a static pod.
func (p *ControlPlane) showPod(of cluster.ControlPlane, pod cluster.StaticPod) {
	if p.boot.Ctx.Err() != nil {
		return
	}
	namespace := "kube-system"
	for _, known := range of.Pods {
		if known.Name == pod.Name {
			namespace = known.Namespace
		}
	}
	if pod.Name == k8s.APIServerID {
		target := netip.AddrPort{}
		if pod.Ready {
			target = netip.AddrPortFrom(of.Address, of.Port)
		}
		p.doors.lead(target)
	}
	id := staticPodID(namespace, pod.Name, of.Node)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reported[id] = pod.Status
	if !p.mayAsk {
		return
	}
	if err := p.showStatus(id, pod.Status); err != nil && p.boot.Ctx.Err() == nil {
		p.boot.Logs.Talos("controller failed: %v", err)
	}
}

// showStatus is called with the lock: a later status is never followed by an earlier one.
func (p *ControlPlane) showStatus(id string, status corev1.PodStatus) error {
	return resources.Put(p.boot.Ctx, p.boot.State, staticPodOwner, k8s.NewStaticPodStatus(k8s.NamespaceName, id), func(shown *k8s.StaticPodStatus) {
		// A status of a pod is always an object.
		_ = k8sadapter.StaticPodStatus(shown).SetStatus(&status)
	})
}

// askKubelet shows what the kubelet reported before Talos could ask it: that is possible
// once the node has found an API server, and on a control plane alone.
func (p *ControlPlane) askKubelet(ctx context.Context, r controller.Reader) error {
	nodes, err := safe.ReaderListAll[*k8s.NodeStatus](ctx, r)
	if err != nil || nodes.Len() == 0 || !p.configs.MachineType().IsControlPlane() {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mayAsk {
		return nil
	}
	p.mayAsk = true
	for id, status := range p.reported {
		if err := p.showStatus(id, status); err != nil {
			return err
		}
	}
	return nil
}

// forgetPods shows no other pods than these any more. Without any the kubelet has stopped.
func (p *ControlPlane) forgetPods(ctx context.Context, but []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.reported, func(id string, _ corev1.PodStatus) bool { return !slices.Contains(but, id) })
	p.mayAsk = p.mayAsk && len(but) > 0
	statuses, err := safe.StateListAll[*k8s.StaticPodStatus](ctx, p.boot.State)
	if err != nil {
		return err
	}
	for status := range statuses.All() {
		if !slices.Contains(but, status.Metadata().ID()) {
			if err := resources.Drop(ctx, p.boot.State, staticPodOwner, status.Metadata()); err != nil {
				return err
			}
		}
	}
	return nil
}
