package node

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	k8sadapter "github.com/siderolabs/talos/internal/app/machined/pkg/adapters/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// staticPodOwner is who says how the static pods are.
const staticPodOwner = "k8s.KubeletStaticPodController"

// staticPodController runs the static pods that Talos' controllers made, while
// the kubelet does.
func (n *node) staticPodController() controller.Controller {
	var running *cluster.ControlPlane
	return &played{
		name: staticPodOwner,
		inputs: []controller.Input{
			reads(k8s.NamespaceName, k8s.StaticPodType), reads(v1alpha1.NamespaceName, v1alpha1.ServiceType),
			reads(k8s.ControlPlaneNamespaceName, k8s.SecretsStatusType), reads(k8s.ControlPlaneNamespaceName, k8s.ConfigStatusType),
			reads(k8s.ControlPlaneNamespaceName, k8s.APIServerConfigType), reads(secrets.NamespaceName, secrets.KubernetesType),
			reads(k8s.NamespaceName, k8s.NodeIPType), reads(k8s.NamespaceName, k8s.NodenameType),
		},
		outputs: []controller.Output{writes(k8s.StaticPodStatusType)},
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			kubelet, err := safe.ReaderGetByID[*v1alpha1.Service](ctx, r, "kubelet")
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			if kubelet == nil || !kubelet.TypedSpec().Running {
				if running != nil {
					running = nil
					n.Kubernetes.StopStaticPods(n.Host())
					n.doors.lead(netip.AddrPort{})
				}
				return n.forgetStaticPods(ctx, nil)
			}
			wanted, err := n.controlPlane(ctx, r)
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
			n.Kubernetes.RunStaticPods(n.Host(), wanted, func(pod cluster.StaticPod) { n.showStaticPod(wanted, pod) })
			var ids []string
			for _, pod := range wanted.Pods {
				ids = append(ids, staticPodID(pod.Namespace, pod.Name, wanted.Node))
			}
			return n.forgetStaticPods(ctx, ids)
		},
	}
}

func staticPodID(namespace, name, node string) string {
	return fmt.Sprintf("%s/%s-%s", namespace, name, node)
}

// controlPlane is all that Kubernetes needs of this node to run its pods.
func (n *node) controlPlane(ctx context.Context, r controller.Reader) (cluster.ControlPlane, error) {
	id, err := n.clusterID()
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
	spec := cluster.ControlPlane{Cluster: id, Node: name.TypedSpec().Nodename, Files: n.files.all()}
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
	if !n.machineType().IsControlPlane() {
		return spec, nil
	}
	return spec, n.addAdmin(ctx, r, &spec)
}

// addAdmin adds where the API server listens, and how the lab itself gets in.
func (n *node) addAdmin(ctx context.Context, r controller.Reader, spec *cluster.ControlPlane) error {
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

// showStaticPod is told how a static pod is.
func (n *node) showStaticPod(of cluster.ControlPlane, pod cluster.StaticPod) {
	if n.ctx.Err() != nil {
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
		n.doors.lead(target)
	}
	err := put(n.ctx, n.resources.State, staticPodOwner, k8s.NewStaticPodStatus(k8s.NamespaceName, staticPodID(namespace, pod.Name, of.Node)), func(status *k8s.StaticPodStatus) {
		// A status of a pod is always an object.
		_ = k8sadapter.StaticPodStatus(status).SetStatus(&pod.Status)
	})
	if err != nil && n.ctx.Err() == nil {
		n.logs.talos("controller failed: %v", err)
	}
}

func (n *node) forgetStaticPods(ctx context.Context, but []string) error {
	statuses, err := safe.StateListAll[*k8s.StaticPodStatus](ctx, n.resources.State)
	if err != nil {
		return err
	}
	for status := range statuses.All() {
		if !slices.Contains(but, status.Metadata().ID()) {
			if err := drop(ctx, n.resources.State, staticPodOwner, status.Metadata()); err != nil {
				return err
			}
		}
	}
	return nil
}

// manifestController writes Talos' own manifests to Kubernetes.
func (n *node) manifestController() controller.Controller {
	return &played{
		name: "k8s.ManifestApplyController",
		inputs: []controller.Input{
			reads(k8s.ControlPlaneNamespaceName, k8s.ManifestType), reads(v1alpha1.NamespaceName, v1alpha1.ServiceType),
		},
		outputs: []controller.Output{writes(k8s.ManifestStatusType)},
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			etcd, err := safe.ReaderGetByID[*v1alpha1.Service](ctx, r, "etcd")
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			if etcd == nil || !etcd.TypedSpec().Healthy {
				return nil
			}
			list, err := safe.ReaderListAll[*k8s.Manifest](ctx, r)
			if err != nil || list.Len() == 0 {
				return err
			}
			list.SortFunc(func(a, b *k8s.Manifest) int { return strings.Compare(a.Metadata().ID(), b.Metadata().ID()) })
			var objects []*unstructured.Unstructured
			var names, versions []string
			for manifest := range list.All() {
				objects = append(objects, k8sadapter.Manifest(manifest).Objects()...)
				names = append(names, manifest.Metadata().ID())
				versions = append(versions, manifest.Metadata().ID()+"@"+manifest.Metadata().Version().String())
			}
			if slices.Equal(n.applied, versions) {
				return nil
			}
			if err := n.applyManifests(ctx, objects); err != nil {
				return err
			}
			n.applied = versions
			return safe.WriterModify(ctx, r, k8s.NewManifestStatus(k8s.ControlPlaneNamespaceName), func(status *k8s.ManifestStatus) error {
				status.TypedSpec().ManifestsApplied = names
				return nil
			})
		},
	}
}

func (n *node) applyManifests(ctx context.Context, objects []*unstructured.Unstructured) error {
	id, err := n.clusterID()
	if err != nil {
		return err
	}
	release, err := n.clusters.applying(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	if err := n.Kubernetes.Apply(ctx, id, objects); err != nil {
		return fmt.Errorf("apply the manifests of Talos: %w", err)
	}
	n.Timeline.Record(n.Host(), "manifests", "applied")
	return nil
}
