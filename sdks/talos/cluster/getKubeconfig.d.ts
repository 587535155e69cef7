import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getKubeconfig(args: GetKubeconfigArgs, opts?: pulumi.InvokeOptions): Promise<GetKubeconfigResult>;
/**
 * A collection of arguments for invoking getKubeconfig.
 */
export interface GetKubeconfigArgs {
    clientConfiguration: inputs.cluster.GetKubeconfigClientConfiguration;
    endpoint?: string;
    node: string;
    timeouts?: inputs.cluster.GetKubeconfigTimeouts;
    /**
     * @deprecated This attribute is deprecated and no-op. Will be removed in a future version. Use<span pulumi-lang-nodejs=" talos.cluster.getHealth " pulumi-lang-dotnet=" talos.cluster.getHealth " pulumi-lang-go=" cluster.getHealth " pulumi-lang-python=" cluster_get_health " pulumi-lang-yaml=" talos.cluster.getHealth " pulumi-lang-java=" talos.cluster.getHealth " pulumi-lang-hcl=" data.talos_cluster_health "> talos.cluster.getHealth </span>instead.
     */
    wait?: boolean;
}
/**
 * A collection of values returned by getKubeconfig.
 */
export interface GetKubeconfigResult {
    readonly clientConfiguration: outputs.cluster.GetKubeconfigClientConfiguration;
    readonly endpoint: string;
    readonly id: string;
    readonly kubeconfigRaw: string;
    readonly kubernetesClientConfiguration: outputs.cluster.GetKubeconfigKubernetesClientConfiguration;
    readonly node: string;
    readonly timeouts?: outputs.cluster.GetKubeconfigTimeouts;
    /**
     * @deprecated This attribute is deprecated and no-op. Will be removed in a future version. Use<span pulumi-lang-nodejs=" talos.cluster.getHealth " pulumi-lang-dotnet=" talos.cluster.getHealth " pulumi-lang-go=" cluster.getHealth " pulumi-lang-python=" cluster_get_health " pulumi-lang-yaml=" talos.cluster.getHealth " pulumi-lang-java=" talos.cluster.getHealth " pulumi-lang-hcl=" data.talos_cluster_health "> talos.cluster.getHealth </span>instead.
     */
    readonly wait?: boolean;
}
export declare function getKubeconfigOutput(args: GetKubeconfigOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetKubeconfigResult>;
/**
 * A collection of arguments for invoking getKubeconfig.
 */
export interface GetKubeconfigOutputArgs {
    clientConfiguration: pulumi.Input<inputs.cluster.GetKubeconfigClientConfigurationArgs>;
    endpoint?: pulumi.Input<string | undefined>;
    node: pulumi.Input<string>;
    timeouts?: pulumi.Input<inputs.cluster.GetKubeconfigTimeoutsArgs | undefined>;
    /**
     * @deprecated This attribute is deprecated and no-op. Will be removed in a future version. Use<span pulumi-lang-nodejs=" talos.cluster.getHealth " pulumi-lang-dotnet=" talos.cluster.getHealth " pulumi-lang-go=" cluster.getHealth " pulumi-lang-python=" cluster_get_health " pulumi-lang-yaml=" talos.cluster.getHealth " pulumi-lang-java=" talos.cluster.getHealth " pulumi-lang-hcl=" data.talos_cluster_health "> talos.cluster.getHealth </span>instead.
     */
    wait?: pulumi.Input<boolean | undefined>;
}
