import * as pulumi from "@pulumi/pulumi";

/**
 * A resource's own URN, as an input that its provider finds its row by. A promise is a text and no more: an output would depend on the parent,
 * which waits for this, its child.
 */
export function ownRow(type: string, name: string, parent: pulumi.Resource | undefined): Promise<string> {
  const urn = pulumi.createUrn(name, type, parent);
  return new Promise((done) => urn.apply(done));
}
