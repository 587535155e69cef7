import * as pulumi from "@pulumi/pulumi";
export declare class Schematic extends pulumi.CustomResource {
    /**
     * Get an existing Schematic resource's state with the given name, ID, and optional extra
     * properties used to qualify the lookup.
     *
     * @param name The _unique_ name of the resulting resource.
     * @param id The _unique_ provider ID of the resource to lookup.
     * @param state Any extra arguments used during the lookup.
     * @param opts Optional settings to control the behavior of the CustomResource.
     */
    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: SchematicState, opts?: pulumi.CustomResourceOptions): Schematic;
    /**
     * Returns true if the given object is an instance of Schematic.  This is designed to work even
     * when multiple copies of the Pulumi SDK have been loaded into the same process.
     */
    static isInstance(obj: any): obj is Schematic;
    /**
     * The schematic yaml respresentation to generate the image.
     *
     * If not set, a vanilla Talos image schematic will be generated.
     *
     * > Refer to [image-factory](https://github.com/siderolabs/image-factory?tab=readme-ov-file#post-schematics) for the schema.
     */
    readonly schematic: pulumi.Output<string | undefined>;
    /**
     * Create a Schematic resource with the given unique name, arguments, and options.
     *
     * @param name The _unique_ name of the resource.
     * @param args The arguments to use to populate this resource's properties.
     * @param opts A bag of options that control this resource's behavior.
     */
    constructor(name: string, args?: SchematicArgs, opts?: pulumi.CustomResourceOptions);
}
/**
 * Input properties used for looking up and filtering Schematic resources.
 */
export interface SchematicState {
    /**
     * The schematic yaml respresentation to generate the image.
     *
     * If not set, a vanilla Talos image schematic will be generated.
     *
     * > Refer to [image-factory](https://github.com/siderolabs/image-factory?tab=readme-ov-file#post-schematics) for the schema.
     */
    schematic?: pulumi.Input<string | undefined>;
}
/**
 * The set of arguments for constructing a Schematic resource.
 */
export interface SchematicArgs {
    /**
     * The schematic yaml respresentation to generate the image.
     *
     * If not set, a vanilla Talos image schematic will be generated.
     *
     * > Refer to [image-factory](https://github.com/siderolabs/image-factory?tab=readme-ov-file#post-schematics) for the schema.
     */
    schematic?: pulumi.Input<string | undefined>;
}
