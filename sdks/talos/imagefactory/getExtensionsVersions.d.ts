import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare function getExtensionsVersions(args: GetExtensionsVersionsArgs, opts?: pulumi.InvokeOptions): Promise<GetExtensionsVersionsResult>;
/**
 * A collection of arguments for invoking getExtensionsVersions.
 */
export interface GetExtensionsVersionsArgs {
    filters?: inputs.imageFactory.GetExtensionsVersionsFilters;
    talosVersion: string;
}
/**
 * A collection of values returned by getExtensionsVersions.
 */
export interface GetExtensionsVersionsResult {
    readonly extensionsInfos: outputs.imageFactory.GetExtensionsVersionsExtensionsInfo[];
    readonly filters?: outputs.imageFactory.GetExtensionsVersionsFilters;
    readonly id: string;
    readonly talosVersion: string;
}
export declare function getExtensionsVersionsOutput(args: GetExtensionsVersionsOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetExtensionsVersionsResult>;
/**
 * A collection of arguments for invoking getExtensionsVersions.
 */
export interface GetExtensionsVersionsOutputArgs {
    filters?: pulumi.Input<inputs.imageFactory.GetExtensionsVersionsFiltersArgs | undefined>;
    talosVersion: pulumi.Input<string>;
}
