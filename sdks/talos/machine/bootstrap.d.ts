import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare class Bootstrap extends pulumi.CustomResource {
    /**
     * Get an existing Bootstrap resource's state with the given name, ID, and optional extra
     * properties used to qualify the lookup.
     *
     * @param name The _unique_ name of the resulting resource.
     * @param id The _unique_ provider ID of the resource to lookup.
     * @param state Any extra arguments used during the lookup.
     * @param opts Optional settings to control the behavior of the CustomResource.
     */
    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: BootstrapState, opts?: pulumi.CustomResourceOptions): Bootstrap;
    /**
     * Returns true if the given object is an instance of Bootstrap.  This is designed to work even
     * when multiple copies of the Pulumi SDK have been loaded into the same process.
     */
    static isInstance(obj: any): obj is Bootstrap;
    /**
     * The client configuration data
     */
    readonly clientConfiguration: pulumi.Output<outputs.machine.ClientConfiguration>;
    /**
     * The endpoint of the machine to bootstrap
     */
    readonly endpoint: pulumi.Output<string>;
    /**
     * The name of the node to bootstrap
     */
    readonly node: pulumi.Output<string>;
    readonly timeouts: pulumi.Output<outputs.machine.BootstrapTimeouts | undefined>;
    /**
     * Create a Bootstrap resource with the given unique name, arguments, and options.
     *
     * @param name The _unique_ name of the resource.
     * @param args The arguments to use to populate this resource's properties.
     * @param opts A bag of options that control this resource's behavior.
     */
    constructor(name: string, args: BootstrapArgs, opts?: pulumi.CustomResourceOptions);
}
/**
 * Input properties used for looking up and filtering Bootstrap resources.
 */
export interface BootstrapState {
    /**
     * The client configuration data
     */
    clientConfiguration?: pulumi.Input<inputs.machine.ClientConfiguration | undefined>;
    /**
     * The endpoint of the machine to bootstrap
     */
    endpoint?: pulumi.Input<string | undefined>;
    /**
     * The name of the node to bootstrap
     */
    node?: pulumi.Input<string | undefined>;
    timeouts?: pulumi.Input<inputs.machine.BootstrapTimeouts | undefined>;
}
/**
 * The set of arguments for constructing a Bootstrap resource.
 */
export interface BootstrapArgs {
    /**
     * The client configuration data
     */
    clientConfiguration: pulumi.Input<inputs.machine.ClientConfiguration>;
    /**
     * The endpoint of the machine to bootstrap
     */
    endpoint?: pulumi.Input<string | undefined>;
    /**
     * The name of the node to bootstrap
     */
    node: pulumi.Input<string>;
    timeouts?: pulumi.Input<inputs.machine.BootstrapTimeouts | undefined>;
}
