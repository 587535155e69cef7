import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
import * as outputs from "../types/output";
export declare class Kubeconfig extends pulumi.CustomResource {
    /**
     * Get an existing Kubeconfig resource's state with the given name, ID, and optional extra
     * properties used to qualify the lookup.
     *
     * @param name The _unique_ name of the resulting resource.
     * @param id The _unique_ provider ID of the resource to lookup.
     * @param state Any extra arguments used during the lookup.
     * @param opts Optional settings to control the behavior of the CustomResource.
     */
    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: KubeconfigState, opts?: pulumi.CustomResourceOptions): Kubeconfig;
    /**
     * Returns true if the given object is an instance of Kubeconfig.  This is designed to work even
     * when multiple copies of the Pulumi SDK have been loaded into the same process.
     */
    static isInstance(obj: any): obj is Kubeconfig;
    /**
     * The duration in hours before the certificate is renewed, defaults to 720h. Must be a valid duration string
     */
    readonly certificateRenewalDuration: pulumi.Output<string>;
    /**
     * The client configuration data
     */
    readonly clientConfiguration: pulumi.Output<outputs.cluster.KubeconfigClientConfiguration>;
    /**
     * endpoint to use for the talosclient. If not set, the node value will be used
     */
    readonly endpoint: pulumi.Output<string>;
    /**
     * The raw kubeconfig
     */
    readonly kubeconfigRaw: pulumi.Output<string>;
    /**
     * The kubernetes client configuration
     */
    readonly kubernetesClientConfiguration: pulumi.Output<outputs.cluster.KubeconfigKubernetesClientConfiguration>;
    /**
     * controlplane node to retrieve the kubeconfig from
     */
    readonly node: pulumi.Output<string>;
    readonly timeouts: pulumi.Output<outputs.cluster.KubeconfigTimeouts | undefined>;
    /**
     * Create a Kubeconfig resource with the given unique name, arguments, and options.
     *
     * @param name The _unique_ name of the resource.
     * @param args The arguments to use to populate this resource's properties.
     * @param opts A bag of options that control this resource's behavior.
     */
    constructor(name: string, args: KubeconfigArgs, opts?: pulumi.CustomResourceOptions);
}
/**
 * Input properties used for looking up and filtering Kubeconfig resources.
 */
export interface KubeconfigState {
    /**
     * The duration in hours before the certificate is renewed, defaults to 720h. Must be a valid duration string
     */
    certificateRenewalDuration?: pulumi.Input<string | undefined>;
    /**
     * The client configuration data
     */
    clientConfiguration?: pulumi.Input<inputs.cluster.KubeconfigClientConfiguration | undefined>;
    /**
     * endpoint to use for the talosclient. If not set, the node value will be used
     */
    endpoint?: pulumi.Input<string | undefined>;
    /**
     * The raw kubeconfig
     */
    kubeconfigRaw?: pulumi.Input<string | undefined>;
    /**
     * The kubernetes client configuration
     */
    kubernetesClientConfiguration?: pulumi.Input<inputs.cluster.KubeconfigKubernetesClientConfiguration | undefined>;
    /**
     * controlplane node to retrieve the kubeconfig from
     */
    node?: pulumi.Input<string | undefined>;
    timeouts?: pulumi.Input<inputs.cluster.KubeconfigTimeouts | undefined>;
}
/**
 * The set of arguments for constructing a Kubeconfig resource.
 */
export interface KubeconfigArgs {
    /**
     * The duration in hours before the certificate is renewed, defaults to 720h. Must be a valid duration string
     */
    certificateRenewalDuration?: pulumi.Input<string | undefined>;
    /**
     * The client configuration data
     */
    clientConfiguration: pulumi.Input<inputs.cluster.KubeconfigClientConfiguration>;
    /**
     * endpoint to use for the talosclient. If not set, the node value will be used
     */
    endpoint?: pulumi.Input<string | undefined>;
    /**
     * controlplane node to retrieve the kubeconfig from
     */
    node: pulumi.Input<string>;
    timeouts?: pulumi.Input<inputs.cluster.KubeconfigTimeouts | undefined>;
}
