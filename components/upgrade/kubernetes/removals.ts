// What a release of Kubernetes no longer has: with it in its arguments, a component of that release does not start.

/** A minor release, and what it removed. */
interface Removal {
  readonly gates: readonly string[];
  /** By component. */
  readonly flags?: Readonly<Record<string, readonly string[]>>;
  readonly admissionPlugins?: readonly string[];
  /** Kinds of objects that it no longer serves in this version, and in no other: "workloads.v1alpha2.scheduling.k8s.io". */
  readonly resources?: readonly string[];
}

/**
 * By minor version. Feature gates: compared in the sources of kubernetes, apiserver, apiextensions-apiserver, client-go, cloud-provider, component-base,
 * controller-manager and kube-aggregator, from 1.31.4 to 1.37.1. The rest: the same sources, and upgrade/checks.go of siderolabs/go-kubernetes 0.2.41.
 */
export const removals: Readonly<Record<number, Removal>> = {
  32: {
    gates: names(`
      CloudDualStackNodeIPs DRAControlPlaneController HPAContainerMetrics KMSv2 KMSv2KDF LegacyServiceAccountTokenCleanUp
      MinDomainsInPodTopologySpread NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach PodHostIPs ServerSideApply ServerSideFieldValidation
      StableLoadBalancerNodeSet ValidatingAdmissionPolicy ZeroLimitedNominalConcurrencyShares`),
    resources: ["podschedulingcontexts.v1alpha3.resource.k8s.io"],
  },
  33: {
    gates: names(`
      APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields CPUManager DisableCloudProviders
      DisableKubeletCloudCredentialProviders EfficientWatchResumption JobPodFailurePolicy KubeProxyDrainingTerminatingNodes PDBUnhealthyPodEvictionPolicy
      PersistentVolumeLastPhaseTransitionTime RemainingItemCount VolumeCapacityPriority WatchBookmark`),
    // Also cloud-provider, which Talos leaves out itself.
    flags: { "kube-apiserver": ["cloud-config"] },
  },
  34: {
    gates: names(
      "DevicePluginCDIDevices ElasticIndexedJob LegacySidecarContainers PodDisruptionConditions StatefulSetStartOrdinal",
    ),
    flags: { kubelet: ["cloud-config", "register-schedulable"] },
  },
  35: {
    gates: names(`
      AllowServiceLBStatusOnNonLB CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel ProbeHostPodSecurityStandards SizeMemoryBackedVolumes StatefulSetAutoDeletePVC
      StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks UserNamespacesPodSecurityStandards`),
    flags: { kubelet: ["pod-infra-container-image"] },
  },
  36: {
    gates: names(`
      CSIMigrationPortworx HonorPVReclaimPolicy InPlacePodVerticalScalingAllocatedStatus InTreePluginPortworxUnregister MemoryManager
      ServiceTrafficDistribution StructuredAuthorizationConfiguration TopologyAwareHints WatchFromStorageWithoutResourceVersion`),
  },
  37: {
    gates: names(`
      APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache
      ConsistentListFromCache GangScheduling JobBackoffLimitPerIndex JobPodReplacementPolicy JobSuccessPolicy
      LogarithmicScaleDown OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PreventStaticPodAPIReferences
      RelaxedDNSSearchValidation ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints SidecarContainers
      StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration WorkloadAwarePreemption`),
    flags: {
      kubelet: names(`
        application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader event-storage-age-limit
        event-storage-event-limit global-housekeeping-interval log-cadvisor-usage machine-id-file storage-driver-user storage-driver-password
        storage-driver-host storage-driver-db storage-driver-table storage-driver-secure storage-driver-buffer-duration`),
    },
    admissionPlugins: ["PodGroupWorkloadExists"],
    resources: ["workloads.v1alpha2.scheduling.k8s.io", "podgroups.v1alpha2.scheduling.k8s.io"],
  },
};

function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** What a component was started with. */
export interface Settings {
  /** "kube-apiserver", "kubelet". */
  readonly component: string;
  /** "--name=value" */
  readonly args: readonly string[];
  /** Feature gates that are set elsewhere than in the arguments, as in the kubelet's own configuration. */
  readonly gates?: readonly string[];
}

/** Everything in a component's settings that a release between these minors removed, as text: "feature gate MemoryManager (removed in 1.36)". */
export function removedSettings(
  { component, args, gates = [] }: Settings,
  from: number,
  to: number,
): readonly string[] {
  const flags = args.map((arg) => {
    const [, name = "", value = ""] = /^--([^=]+)=?(.*)$/s.exec(arg) ?? [];
    return { name, values: value.split(",").map((one) => one.trim()) };
  });
  const valuesOf = (flag: string) => flags.filter(({ name }) => name === flag).flatMap(({ values }) => values);
  const set = {
    flag: flags.map(({ name }) => name),
    gate: [...valuesOf("feature-gates").map((gate) => gate.replace(/=.*/, "")), ...gates],
    plugin: ["enable-admission-plugins", "disable-admission-plugins"].flatMap(valuesOf),
  };
  return between(from, to).flatMap(([minor, removal]) => {
    const removed = (what: string, has: readonly string[], gone: readonly string[] = []) =>
      gone.filter((name) => has.includes(name)).map((name) => `${what}${name} (removed in 1.${minor})`);
    return [
      ...removed("flag --", set.flag, removal.flags?.[component]),
      ...removed("feature gate ", set.gate, removal.gates),
      ...removed("admission plugin ", set.plugin, removal.admissionPlugins),
    ];
  });
}

/** The resources that are removed without having been deprecated, which the API servers' metrics do not count. */
export function removedResources(
  from: number,
  to: number,
): readonly { readonly name: string; readonly removedIn: string }[] {
  return between(from, to).flatMap(([minor, { resources = [] }]) =>
    resources.map((name) => ({ name, removedIn: `1.${minor}` })),
  );
}

function between(from: number, to: number): readonly (readonly [number, Removal])[] {
  return Object.entries(removals)
    .map(([minor, removal]) => [Number(minor), removal] as const)
    .filter(([minor]) => minor > from && minor <= to);
}
