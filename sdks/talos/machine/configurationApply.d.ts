import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare class ConfigurationApply extends pulumi.CustomResource {
    /**
     * Get an existing ConfigurationApply resource's state with the given name, ID, and optional extra
     * properties used to qualify the lookup.
     *
     * @param name The _unique_ name of the resulting resource.
     * @param id The _unique_ provider ID of the resource to lookup.
     * @param state Any extra arguments used during the lookup.
     * @param opts Optional settings to control the behavior of the CustomResource.
     */
    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: ConfigurationApplyState, opts?: pulumi.CustomResourceOptions): ConfigurationApply;
    /**
     * Returns true if the given object is an instance of ConfigurationApply.  This is designed to work even
     * when multiple copies of the Pulumi SDK have been loaded into the same process.
     */
    static isInstance(obj: any): obj is ConfigurationApply;
    /**
     * The mode of the apply operation
     */
    readonly applyMode: pulumi.Output<string>;
    /**
     * The client configuration data
     */
    readonly clientConfiguration: pulumi.Output<outputs.machine.ClientConfiguration>;
    /**
     * The list of config patches to apply
     */
    readonly configPatches: pulumi.Output<string[] | undefined>;
    /**
     * The endpoint of the machine to bootstrap
     */
    readonly endpoint: pulumi.Output<string>;
    /**
     * The generated machine configuration after applying patches
     */
    readonly machineConfiguration: pulumi.Output<string>;
    /**
     * The machine configuration to apply
     */
    readonly machineConfigurationInput: pulumi.Output<string>;
    /**
     * The name of the node to bootstrap
     */
    readonly node: pulumi.Output<string>;
    /**
     * Actions to be taken on destroy, if *reset* is not set this is a no-op.
     *
     * > Note: Any changes to *on_destroy* block has to be applied first by running *terraform apply* first,
     * then a subsequent *terraform destroy* for the changes to take effect due to limitations in Terraform provider framework.
     */
    readonly onDestroy: pulumi.Output<outputs.machine.ConfigurationApplyOnDestroy | undefined>;
    readonly timeouts: pulumi.Output<outputs.machine.Timeout | undefined>;
    /**
     * Create a ConfigurationApply resource with the given unique name, arguments, and options.
     *
     * @param name The _unique_ name of the resource.
     * @param args The arguments to use to populate this resource's properties.
     * @param opts A bag of options that control this resource's behavior.
     */
    constructor(name: string, args: ConfigurationApplyArgs, opts?: pulumi.CustomResourceOptions);
}
/**
 * Input properties used for looking up and filtering ConfigurationApply resources.
 */
export interface ConfigurationApplyState {
    /**
     * The mode of the apply operation
     */
    applyMode?: pulumi.Input<string | undefined>;
    /**
     * The client configuration data
     */
    clientConfiguration?: pulumi.Input<inputs.machine.ClientConfiguration | undefined>;
    /**
     * The list of config patches to apply
     */
    configPatches?: pulumi.Input<pulumi.Input<string>[] | undefined>;
    /**
     * The endpoint of the machine to bootstrap
     */
    endpoint?: pulumi.Input<string | undefined>;
    /**
     * The generated machine configuration after applying patches
     */
    machineConfiguration?: pulumi.Input<string | undefined>;
    /**
     * The machine configuration to apply
     */
    machineConfigurationInput?: pulumi.Input<string | undefined>;
    /**
     * The name of the node to bootstrap
     */
    node?: pulumi.Input<string | undefined>;
    /**
     * Actions to be taken on destroy, if *reset* is not set this is a no-op.
     *
     * > Note: Any changes to *on_destroy* block has to be applied first by running *terraform apply* first,
     * then a subsequent *terraform destroy* for the changes to take effect due to limitations in Terraform provider framework.
     */
    onDestroy?: pulumi.Input<inputs.machine.ConfigurationApplyOnDestroy | undefined>;
    timeouts?: pulumi.Input<inputs.machine.Timeout | undefined>;
}
/**
 * The set of arguments for constructing a ConfigurationApply resource.
 */
export interface ConfigurationApplyArgs {
    /**
     * The mode of the apply operation
     */
    applyMode?: pulumi.Input<string | undefined>;
    /**
     * The client configuration data
     */
    clientConfiguration: pulumi.Input<inputs.machine.ClientConfiguration>;
    /**
     * The list of config patches to apply
     */
    configPatches?: pulumi.Input<pulumi.Input<string>[] | undefined>;
    /**
     * The endpoint of the machine to bootstrap
     */
    endpoint?: pulumi.Input<string | undefined>;
    /**
     * The machine configuration to apply
     */
    machineConfigurationInput: pulumi.Input<string>;
    /**
     * The name of the node to bootstrap
     */
    node: pulumi.Input<string>;
    /**
     * Actions to be taken on destroy, if *reset* is not set this is a no-op.
     *
     * > Note: Any changes to *on_destroy* block has to be applied first by running *terraform apply* first,
     * then a subsequent *terraform destroy* for the changes to take effect due to limitations in Terraform provider framework.
     */
    onDestroy?: pulumi.Input<inputs.machine.ConfigurationApplyOnDestroy | undefined>;
    timeouts?: pulumi.Input<inputs.machine.Timeout | undefined>;
}
