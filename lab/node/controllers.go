package node

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	osruntime "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/cluster"
	configcontrollers "github.com/siderolabs/talos/internal/app/machined/pkg/controllers/config"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/etcd"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/k8s"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/network"
	runtimecontrollers "github.com/siderolabs/talos/internal/app/machined/pkg/controllers/runtime"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/secrets"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/v1alpha1"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/config"
)

// runControllers starts what runs from the first second of a boot.
func (n *node) runControllers() error {
	var err error
	n.engine, err = osruntime.NewRuntime(n.resources.State, n.logs.logger("controller-runtime"))
	if err != nil {
		return fmt.Errorf("the controller runtime: %w", err)
	}
	for _, controller := range append(n.common(), n.host()...) {
		if err := n.engine.RegisterController(controller); err != nil {
			return err
		}
	}
	n.spawn(func(context.Context) { n.resources.tell() })
	n.spawn(func(ctx context.Context) {
		if err := n.engine.Run(ctx); err != nil && ctx.Err() == nil {
			n.cancel(fmt.Errorf("fatal controller runtime error: %w", err))
		}
	})
	return nil
}

// grow starts what only a control plane needs. A real node runs all of them
// everywhere, where they find nothing to do.
func (n *node) grow(cfg config.Provider) error {
	if cfg.Machine() == nil || !cfg.Machine().Type().IsControlPlane() {
		return nil
	}
	n.mu.Lock()
	grown := n.grown
	n.grown = true
	n.mu.Unlock()
	if grown {
		return nil
	}
	for _, controller := range n.controlPlaneOnly() {
		if err := n.engine.RegisterController(controller); err != nil {
			return err
		}
	}
	return nil
}

// common are Talos' own controllers that only turn resources into resources.
func (n *node) common() []controller.Controller {
	return []controller.Controller{
		&cluster.AffiliateMergeController{},
		cluster.NewConfigController(),
		&cluster.EndpointController{},
		cluster.NewInfoController(),
		&cluster.LocalAffiliateController{},
		&cluster.MemberController{},
		&configcontrollers.MachineTypeController{},
		&k8s.AddressFilterController{},
		k8s.NewKubeletConfigController(),
		&k8s.KubeletSpecController{V1Alpha1Mode: n.mode},
		k8s.NewKubePrismConfigController(),
		k8s.NewKubePrismEndpointsController(),
		&k8s.NodeAnnotationSpecController{},
		&k8s.NodeCordonedSpecController{},
		k8s.NewNodeIPConfigController(),
		&k8s.NodeIPController{},
		&k8s.NodeLabelSpecController{},
		&k8s.NodeTaintSpecController{},
		&k8s.NodenameController{},
		&k8s.StaticEndpointController{},
		&k8s.StaticPodConfigController{},
		&network.AddressConfigController{V1Alpha1Mode: n.mode},
		network.NewAddressMergeController(),
		&network.DeviceConfigController{},
		&network.HostDNSConfigController{},
		&network.HostnameConfigController{},
		network.NewHostnameMergeController(),
		// In container mode it leaves the host's own name alone.
		&network.HostnameSpecController{V1Alpha1Mode: runtime.ModeContainer},
		&network.LinkAliasConfigController{},
		&network.LinkConfigController{},
		network.NewLinkMergeController(),
		&network.NodeAddressController{},
		&network.NodeAddressSortAlgorithmController{},
		&network.OperatorConfigController{},
		network.NewOperatorMergeController(),
		&network.OperatorVIPConfigController{},
		&network.PlatformConfigApplyController{},
		&network.ResolverConfigController{},
		network.NewResolverMergeController(),
		&network.ResolverSpecController{},
		&network.RouteConfigController{},
		network.NewRouteMergeController(),
		&network.StatusController{V1Alpha1Mode: n.mode},
		&network.TimeServerConfigController{},
		network.NewTimeServerMergeController(),
		&network.TimeServerSpecController{},
		&runtimecontrollers.APIServiceConfigController{},
		&runtimecontrollers.ExtensionServiceConfigController{},
		&runtimecontrollers.MachineStatusController{V1Alpha1Events: n.events},
		&runtimecontrollers.MachineStatusPublisherController{V1Alpha1Events: n.events},
		&runtimecontrollers.MaintenanceConfigController{},
		&secrets.APICertSANsController{},
		secrets.NewKubeletController(),
		&secrets.MaintenanceCertSANsController{},
		&secrets.MaintenanceRootController{},
		secrets.NewRootOSController(),
		&v1alpha1.ServiceController{V1Alpha1Events: n.events},
	}
}

// host are played, for what the real ones do to a host.
func (n *node) host() []controller.Controller {
	return []controller.Controller{
		n.linkController(), n.addressController(), n.routeController(), n.operatorController(), n.etcFileController(),
		n.timeController(), n.certificateController(), n.discoveryController(), n.kubeletController(), n.staticPodController(),
	}
}

// controlPlaneOnly are the controllers, real and played, of a control plane.
func (n *node) controlPlaneOnly() []controller.Controller {
	return []controller.Controller{
		etcd.NewConfigController(),
		&etcd.MemberController{GetLocalMemberIDFunc: n.localMember},
		&etcd.SpecController{},
		k8s.NewControlPlaneAPIServerController(),
		k8s.NewControlPlaneAdmissionControlController(),
		k8s.NewControlPlaneAuditPolicyController(),
		k8s.NewControlPlaneAuthorizationController(),
		k8s.NewControlPlaneBootstrapManifestsController(),
		k8s.NewControlPlaneControllerManagerController(),
		k8s.NewControlPlaneExtraManifestsController(),
		k8s.NewControlPlaneSchedulerController(),
		&k8s.ControlPlaneStaticPodController{},
		&k8s.ManifestController{},
		&secrets.EtcdController{},
		&secrets.KubernetesCertSANsController{},
		&secrets.KubernetesController{},
		&secrets.KubernetesDynamicCertsController{},
		secrets.NewRootEtcdController(),
		secrets.NewRootKubernetesController(),
		&secrets.TrustdController{},
		n.secretsController(), n.configsController(), n.manifestController(),
	}
}
