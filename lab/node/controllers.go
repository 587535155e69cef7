package node

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/block"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/cluster"
	configcontrollers "github.com/siderolabs/talos/internal/app/machined/pkg/controllers/config"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/etcd"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/k8s"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/network"
	runtimecontrollers "github.com/siderolabs/talos/internal/app/machined/pkg/controllers/runtime"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/secrets"
	"github.com/siderolabs/talos/internal/app/machined/pkg/controllers/v1alpha1"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/hardware"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/journal"
)

// commonControllers are Talos' own controllers that only read and write resources.
func commonControllers(mode runtime.Mode, events *journal.Events, meta *hardware.Hardware) []controller.Controller {
	return []controller.Controller{
		&block.VolumeConfigController{V1Alpha1Mode: mode, MetaProvider: meta},
		&cluster.AffiliateMergeController{},
		cluster.NewConfigController(),
		&cluster.EndpointController{},
		cluster.NewInfoController(),
		&cluster.LocalAffiliateController{},
		&cluster.MemberController{},
		&configcontrollers.MachineTypeController{},
		&k8s.AddressFilterController{},
		k8s.NewKubeletConfigController(),
		&k8s.KubeletSpecController{V1Alpha1Mode: mode},
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
		&network.AddressConfigController{V1Alpha1Mode: mode},
		network.NewAddressMergeController(),
		&network.DeviceConfigController{},
		&network.HostDNSConfigController{},
		&network.HostnameConfigController{},
		network.NewHostnameMergeController(),
		// In container mode it does not change the host's own name.
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
		&network.StatusController{V1Alpha1Mode: mode},
		&network.TimeServerConfigController{},
		network.NewTimeServerMergeController(),
		&network.TimeServerSpecController{},
		&runtimecontrollers.APIServiceConfigController{},
		&runtimecontrollers.DropUpgradeFallbackController{MetaProvider: meta},
		&runtimecontrollers.ExtensionServiceConfigController{},
		&runtimecontrollers.KernelParamConfigController{},
		&runtimecontrollers.KernelParamDefaultsController{V1Alpha1Mode: mode},
		&runtimecontrollers.MachineStatusController{V1Alpha1Events: events},
		&runtimecontrollers.MachineStatusPublisherController{V1Alpha1Events: events},
		&runtimecontrollers.MaintenanceConfigController{},
		&runtimecontrollers.UniqueMachineTokenController{},
		&secrets.APICertSANsController{},
		secrets.NewKubeletController(),
		&secrets.MaintenanceCertSANsController{},
		&secrets.MaintenanceRootController{},
		secrets.NewRootOSController(),
		&v1alpha1.ServiceController{V1Alpha1Events: events},
	}
}

// controlPlaneControllers returns Talos' own controllers that only a control plane needs.
func controlPlaneControllers(memberID func(context.Context) (uint64, error)) []controller.Controller {
	return []controller.Controller{
		etcd.NewConfigController(),
		&etcd.MemberController{GetLocalMemberIDFunc: memberID},
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
	}
}
