import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getOverlaysVersions(args: GetOverlaysVersionsArgs, opts?: pulumi.InvokeOptions): Promise<GetOverlaysVersionsResult>;
/**
 * A collection of arguments for invoking getOverlaysVersions.
 */
export interface GetOverlaysVersionsArgs {
    filters?: inputs.imageFactory.GetOverlaysVersionsFilters;
    talosVersion: string;
}
/**
 * A collection of values returned by getOverlaysVersions.
 */
export interface GetOverlaysVersionsResult {
    readonly filters?: outputs.imageFactory.GetOverlaysVersionsFilters;
    readonly id: string;
    readonly overlaysInfos: outputs.imageFactory.GetOverlaysVersionsOverlaysInfo[];
    readonly talosVersion: string;
}
export declare function getOverlaysVersionsOutput(args: GetOverlaysVersionsOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetOverlaysVersionsResult>;
/**
 * A collection of arguments for invoking getOverlaysVersions.
 */
export interface GetOverlaysVersionsOutputArgs {
    filters?: pulumi.Input<inputs.imageFactory.GetOverlaysVersionsFiltersArgs | undefined>;
    talosVersion: pulumi.Input<string>;
}
