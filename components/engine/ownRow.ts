import * as pulumi from "@pulumi/pulumi";

/**
 * A resource's own URN, as an input by which its provider finds its row. It is a plain promise, because an output would depend on the parent, which waits for
 * this child.
 */
export function ownRow(type: string, name: string, parent: pulumi.Resource | undefined): Promise<string> {
  const urn = pulumi.createUrn(name, type, parent);
  return new Promise((done) => urn.apply(done));
}
