import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getHealth(args: GetHealthArgs, opts?: pulumi.InvokeOptions): Promise<GetHealthResult>;
/**
 * A collection of arguments for invoking getHealth.
 */
export interface GetHealthArgs {
    clientConfiguration: inputs.cluster.GetHealthClientConfiguration;
    controlPlaneNodes: string[];
    endpoints: string[];
    skipKubernetesChecks?: boolean;
    timeouts?: inputs.cluster.GetHealthTimeouts;
    workerNodes?: string[];
}
/**
 * A collection of values returned by getHealth.
 */
export interface GetHealthResult {
    readonly clientConfiguration: outputs.cluster.GetHealthClientConfiguration;
    readonly controlPlaneNodes: string[];
    readonly endpoints: string[];
    readonly id: string;
    readonly skipKubernetesChecks?: boolean;
    readonly timeouts?: outputs.cluster.GetHealthTimeouts;
    readonly workerNodes?: string[];
}
export declare function getHealthOutput(args: GetHealthOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetHealthResult>;
/**
 * A collection of arguments for invoking getHealth.
 */
export interface GetHealthOutputArgs {
    clientConfiguration: pulumi.Input<inputs.cluster.GetHealthClientConfigurationArgs>;
    controlPlaneNodes: pulumi.Input<pulumi.Input<string>[]>;
    endpoints: pulumi.Input<pulumi.Input<string>[]>;
    skipKubernetesChecks?: pulumi.Input<boolean | undefined>;
    timeouts?: pulumi.Input<inputs.cluster.GetHealthTimeoutsArgs | undefined>;
    workerNodes?: pulumi.Input<pulumi.Input<string>[] | undefined>;
}
