import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getConfiguration(args: GetConfigurationArgs, opts?: pulumi.InvokeOptions): Promise<GetConfigurationResult>;
/**
 * A collection of arguments for invoking getConfiguration.
 */
export interface GetConfigurationArgs {
    clientConfiguration: inputs.client.GetConfigurationClientConfiguration;
    clusterName: string;
    endpoints?: string[];
    nodes?: string[];
}
/**
 * A collection of values returned by getConfiguration.
 */
export interface GetConfigurationResult {
    readonly clientConfiguration: outputs.client.GetConfigurationClientConfiguration;
    readonly clusterName: string;
    readonly endpoints?: string[];
    readonly id: string;
    readonly nodes?: string[];
    readonly talosConfig: string;
}
export declare function getConfigurationOutput(args: GetConfigurationOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetConfigurationResult>;
/**
 * A collection of arguments for invoking getConfiguration.
 */
export interface GetConfigurationOutputArgs {
    clientConfiguration: pulumi.Input<inputs.client.GetConfigurationClientConfigurationArgs>;
    clusterName: pulumi.Input<string>;
    endpoints?: pulumi.Input<pulumi.Input<string>[] | undefined>;
    nodes?: pulumi.Input<pulumi.Input<string>[] | undefined>;
}
