import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getDisks(args: GetDisksArgs, opts?: pulumi.InvokeOptions): Promise<GetDisksResult>;
/**
 * A collection of arguments for invoking getDisks.
 */
export interface GetDisksArgs {
    clientConfiguration: inputs.machine.GetDisksClientConfiguration;
    endpoint?: string;
    filters?: inputs.machine.GetDisksFilters;
    node: string;
    timeouts?: inputs.machine.GetDisksTimeouts;
}
/**
 * A collection of values returned by getDisks.
 */
export interface GetDisksResult {
    readonly clientConfiguration: outputs.machine.GetDisksClientConfiguration;
    readonly disks: outputs.machine.GetDisksDisk[];
    readonly endpoint: string;
    readonly filters?: outputs.machine.GetDisksFilters;
    readonly id: string;
    readonly node: string;
    readonly timeouts?: outputs.machine.GetDisksTimeouts;
}
export declare function getDisksOutput(args: GetDisksOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetDisksResult>;
/**
 * A collection of arguments for invoking getDisks.
 */
export interface GetDisksOutputArgs {
    clientConfiguration: pulumi.Input<inputs.machine.GetDisksClientConfigurationArgs>;
    endpoint?: pulumi.Input<string | undefined>;
    filters?: pulumi.Input<inputs.machine.GetDisksFiltersArgs | undefined>;
    node: pulumi.Input<string>;
    timeouts?: pulumi.Input<inputs.machine.GetDisksTimeoutsArgs | undefined>;
}
