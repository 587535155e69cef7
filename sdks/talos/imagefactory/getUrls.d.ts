import * as pulumi from "@pulumi/pulumi";
import * as outputs from "../types/output";
export declare function getUrls(args: GetUrlsArgs, opts?: pulumi.InvokeOptions): Promise<GetUrlsResult>;
/**
 * A collection of arguments for invoking getUrls.
 */
export interface GetUrlsArgs {
    architecture?: string;
    platform?: string;
    sbc?: string;
    schematicId: string;
    talosVersion: string;
}
/**
 * A collection of values returned by getUrls.
 */
export interface GetUrlsResult {
    readonly architecture: string;
    readonly id: string;
    readonly platform?: string;
    readonly sbc?: string;
    readonly schematicId: string;
    readonly talosVersion: string;
    readonly urls: outputs.imageFactory.GetUrlsUrls;
}
export declare function getUrlsOutput(args: GetUrlsOutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<GetUrlsResult>;
/**
 * A collection of arguments for invoking getUrls.
 */
export interface GetUrlsOutputArgs {
    architecture?: pulumi.Input<string | undefined>;
    platform?: pulumi.Input<string | undefined>;
    sbc?: pulumi.Input<string | undefined>;
    schematicId: pulumi.Input<string>;
    talosVersion: pulumi.Input<string>;
}
