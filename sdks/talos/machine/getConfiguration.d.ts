import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getConfiguration(args: GetConfigurationArgs, opts?: pulumi.InvokeOptions): Promise<GetConfigurationResult>;
/**
 * A collection of arguments for invoking getConfiguration.
 */
export interface GetConfigurationArgs {
    clusterEndpoint: string;
    clusterName: string;
    configPatches?: string[];
    docs?: boolean;
    examples?: boolean;
    kubernetesVersion?: string;
    machineSecrets: inputs.machine.MachineSecrets;
    machineType: string;
    talosVersion?: string;
}
/**
 * A collection of values returned by getConfiguration.
 */
export interface GetConfigurationResult {
    readonly clusterEndpoint: string;
    readonly clusterName: string;
    readonly configPatches?: string[];
    readonly docs?: boolean;
    readonly examples?: boolean;
    readonly id: string;
    readonly kubernetesVersion?: string;
    readonly machineConfiguration: string;
    readonly machineSecrets: outputs.machine.MachineSecrets;
    readonly machineType: string;
    readonly talosVersion?: string;
}
export declare function getConfigurationOutput(args: GetConfigurationOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetConfigurationResult>;
/**
 * A collection of arguments for invoking getConfiguration.
 */
export interface GetConfigurationOutputArgs {
    clusterEndpoint: pulumi.Input<string>;
    clusterName: pulumi.Input<string>;
    configPatches?: pulumi.Input<pulumi.Input<string>[] | undefined>;
    docs?: pulumi.Input<boolean | undefined>;
    examples?: pulumi.Input<boolean | undefined>;
    kubernetesVersion?: pulumi.Input<string | undefined>;
    machineSecrets: pulumi.Input<inputs.machine.MachineSecretsArgs>;
    machineType: pulumi.Input<string>;
    talosVersion?: pulumi.Input<string | undefined>;
}
