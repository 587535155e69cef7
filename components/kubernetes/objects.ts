// The fields of Kubernetes objects that Sluice reads, as the API sends them.

export interface KubernetesObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly creationTimestamp?: string;
    /** Which manager has set which fields: `{ "f:spec": { "f:suspend": {} } }`. */
    readonly managedFields?: readonly {
      readonly manager?: string;
      readonly fieldsV1?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    }[];
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
  };
}

/** One of the conditions in an object's status. */
export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export interface KubernetesNode extends KubernetesObject {
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly StatusCondition[];
    readonly nodeInfo?: {
      readonly machineID: string;
      readonly systemUUID: string;
      /** Of the boot in which the kubelet registered last. */
      readonly bootID?: string;
      readonly kubeletVersion: string;
    };
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface ContainerState {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
}

export interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly StatusCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface KubernetesEvent extends KubernetesObject {
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

interface PodTemplate {
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    readonly imagePullSecrets?: readonly { readonly name: string }[];
  };
}

export interface DaemonSet extends KubernetesObject {
  readonly spec: { readonly template: PodTemplate };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
  };
}

export interface Deployment extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly StatusCondition[];
  };
}
