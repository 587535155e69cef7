package kube

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// release returns the Kubernetes version that an image has by its tag, or nil.
func release(image string) *version.Version {
	image, _, _ = strings.Cut(image, "@")
	name := path.Base(image)
	colon := strings.LastIndex(name, ":")
	if colon < 0 {
		return nil
	}
	parsed, err := version.ParseSemantic(name[colon+1:])
	if err != nil {
		return nil
	}
	return parsed
}

// runAs makes the one program run as the release of the image (toolchain/cluster/cmd/controlplane).
func runAs(image string) []string {
	if is := release(image); is != nil {
		return []string{"KUBERNETES_VERSION=v" + is.String()}
	}
	return nil
}

// removedFlags and removedGates are what the program no longer has, with the minor release that removed it: an earlier release starts with them.
// From the sources of Kubernetes 1.31 to 1.37, and upgrade/checks.go of siderolabs/go-kubernetes 0.2.41.
var (
	removedFlags = map[string]map[string]uint{
		"kube-apiserver": {"cloud-config": 33, "cloud-provider": 33},
	}
	removedGates = map[string]uint{
		"CloudDualStackNodeIPs": 32, "DRAControlPlaneController": 32, "HPAContainerMetrics": 32, "KMSv2": 32, "KMSv2KDF": 32,
		"LegacyServiceAccountTokenCleanUp": 32, "MinDomainsInPodTopologySpread": 32, "NewVolumeManagerReconstruction": 32,
		"NodeOutOfServiceVolumeDetach": 32, "PodHostIPs": 32, "ServerSideApply": 32, "ServerSideFieldValidation": 32, "StableLoadBalancerNodeSet": 32,
		"ValidatingAdmissionPolicy": 32, "ZeroLimitedNominalConcurrencyShares": 32,

		"APIListChunking": 33, "AdmissionWebhookMatchConditions": 33, "AggregatedDiscoveryEndpoint": 33, "AppArmor": 33, "AppArmorFields": 33, "CPUManager": 33, "DisableCloudProviders": 33, "DisableKubeletCloudCredentialProviders": 33, "EfficientWatchResumption": 33, "JobPodFailurePolicy": 33,
		"KubeProxyDrainingTerminatingNodes": 33, "PDBUnhealthyPodEvictionPolicy": 33, "PersistentVolumeLastPhaseTransitionTime": 33, "RemainingItemCount": 33, "VolumeCapacityPriority": 33, "WatchBookmark": 33,

		"DevicePluginCDIDevices": 34, "ElasticIndexedJob": 34, "LegacySidecarContainers": 34, "PodDisruptionConditions": 34, "StatefulSetStartOrdinal": 34,

		"AllowServiceLBStatusOnNonLB": 35, "CronJobsScheduledAnnotation": 35, "LoadBalancerIPMode": 35, "PodIndexLabel": 35,
		"ProbeHostPodSecurityStandards": 35, "SizeMemoryBackedVolumes": 35, "StatefulSetAutoDeletePVC": 35, "StrictCostEnforcementForVAP": 35,
		"StrictCostEnforcementForWebhooks": 35, "UserNamespacesPodSecurityStandards": 35,

		"CSIMigrationPortworx": 36, "HonorPVReclaimPolicy": 36, "InPlacePodVerticalScalingAllocatedStatus": 36, "InTreePluginPortworxUnregister": 36,
		"MemoryManager": 36, "ServiceTrafficDistribution": 36, "StructuredAuthorizationConfiguration": 36, "TopologyAwareHints": 36,
		"WatchFromStorageWithoutResourceVersion": 36,

		"APIServerTracing": 37, "AnonymousAuthConfigurableEndpoints": 37, "AnyVolumeDataSource": 37, "AuthorizeNodeWithSelectors": 37,
		"AuthorizeWithSelectors": 37, "BtreeWatchCache": 37, "ConsistentListFromCache": 37, "GangScheduling": 37,
		"JobBackoffLimitPerIndex": 37, "JobPodReplacementPolicy": 37, "JobSuccessPolicy": 37, "LogarithmicScaleDown": 37, "OrderedNamespaceDeletion": 37,
		"PodLifecycleSleepAction": 37, "PodLifecycleSleepActionAllowZero": 37, "PreventStaticPodAPIReferences": 37, "RelaxedDNSSearchValidation": 37,
		"ResilientWatchCacheInitialization": 37, "RetryGenerateName": 37, "SchedulerQueueingHints": 37, "SidecarContainers": 37,
		"StreamingCollectionEncodingToJSON": 37, "StreamingCollectionEncodingToProtobuf": 37, "StructuredAuthenticationConfiguration": 37,
		"WorkloadAwarePreemption": 37,
	}
)

// known leaves out of the arguments of a program what its release knows, and the program that runs instead does not.
func known(kind, image string, args []string) []string {
	is := release(image)
	if is == nil {
		return args
	}
	left := make([]string, 0, len(args))
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if is.Minor() < removedFlags[kind][name] {
			continue
		}
		if name != "feature-gates" {
			left = append(left, arg)
			continue
		}
		gates := slices.DeleteFunc(strings.Split(value, ","), func(gate string) bool {
			gate, _, _ = strings.Cut(gate, "=")
			return is.Minor() < removedGates[gate]
		})
		if len(gates) > 0 {
			left = append(left, "--feature-gates="+strings.Join(gates, ","))
		}
	}
	return left
}
