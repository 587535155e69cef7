import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getVersions(args?: GetVersionsArgs, opts?: pulumi.InvokeOptions): Promise<GetVersionsResult>;
/**
 * A collection of arguments for invoking getVersions.
 */
export interface GetVersionsArgs {
    filters?: inputs.imageFactory.GetVersionsFilters;
}
/**
 * A collection of values returned by getVersions.
 */
export interface GetVersionsResult {
    readonly filters?: outputs.imageFactory.GetVersionsFilters;
    readonly id: string;
    readonly talosVersions: string[];
}
export declare function getVersionsOutput(args?: GetVersionsOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetVersionsResult>;
/**
 * A collection of arguments for invoking getVersions.
 */
export interface GetVersionsOutputArgs {
    filters?: pulumi.Input<inputs.imageFactory.GetVersionsFiltersArgs | undefined>;
}
