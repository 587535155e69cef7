import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare class Secrets extends pulumi.CustomResource {
    /**
     * Get an existing Secrets resource's state with the given name, ID, and optional extra
     * properties used to qualify the lookup.
     *
     * @param name The _unique_ name of the resulting resource.
     * @param id The _unique_ provider ID of the resource to lookup.
     * @param state Any extra arguments used during the lookup.
     * @param opts Optional settings to control the behavior of the CustomResource.
     */
    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: SecretsState, opts?: pulumi.CustomResourceOptions): Secrets;
    /**
     * Returns true if the given object is an instance of Secrets.  This is designed to work even
     * when multiple copies of the Pulumi SDK have been loaded into the same process.
     */
    static isInstance(obj: any): obj is Secrets;
    /**
     * The generated client configuration data
     */
    readonly clientConfiguration: pulumi.Output<outputs.machine.ClientConfiguration>;
    /**
     * The secrets for the talos cluster
     */
    readonly machineSecrets: pulumi.Output<outputs.machine.MachineSecrets>;
    /**
     * The version of talos features to use in generated machine configuration
     */
    readonly talosVersion: pulumi.Output<string>;
    /**
     * Create a Secrets resource with the given unique name, arguments, and options.
     *
     * @param name The _unique_ name of the resource.
     * @param args The arguments to use to populate this resource's properties.
     * @param opts A bag of options that control this resource's behavior.
     */
    constructor(name: string, args?: SecretsArgs, opts?: pulumi.CustomResourceOptions);
}
/**
 * Input properties used for looking up and filtering Secrets resources.
 */
export interface SecretsState {
    /**
     * The generated client configuration data
     */
    clientConfiguration?: pulumi.Input<inputs.machine.ClientConfiguration | undefined>;
    /**
     * The secrets for the talos cluster
     */
    machineSecrets?: pulumi.Input<inputs.machine.MachineSecretsArgs | undefined>;
    /**
     * The version of talos features to use in generated machine configuration
     */
    talosVersion?: pulumi.Input<string | undefined>;
}
/**
 * The set of arguments for constructing a Secrets resource.
 */
export interface SecretsArgs {
    /**
     * The version of talos features to use in generated machine configuration
     */
    talosVersion?: pulumi.Input<string | undefined>;
}
