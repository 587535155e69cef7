import * as pulumi from "@pulumi/pulumi";

export interface HetznerSnapshotArgs {
  /** All of them, each with its value. */
  readonly labels: Readonly<Record<string, string>>;
  readonly architecture: "amd64" | "arm64";
  /** Of the Hetzner project. */
  readonly token: pulumi.Input<string>;
  /** What to type where there is none; a part of the error. */
  readonly remedy: string;
  /** Seconds in which it must be found. */
  readonly deadline: number;
}

/**
 * The newest snapshot with these labels. It is looked for when this is made and on refresh: in a first preview it is unknown, later it
 * is what the state says. Where the API is says HCLOUD_ENDPOINT.
 */
export class HetznerSnapshot extends pulumi.dynamic.Resource {
  declare readonly snapshotId: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string>;

  constructor(name: string, args: HetznerSnapshotArgs, opts?: pulumi.CustomResourceOptions) {
    const { labels, architecture, remedy, deadline } = args;
    const inputs = { labels, architecture, remedy, deadline, token: pulumi.secret(args.token) };
    super(
      provider,
      name,
      { ...inputs, snapshotId: undefined, description: undefined },
      opts,
      "images",
      "HetznerSnapshot",
    );
  }
}

/** The engine keeps this text in the state, so it holds no more than the way to the code. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) =>
    (await import(`${process.cwd()}/components/images/hetznerSnapshotLookup.ts`)).create(inputs),
  diff: async (id, before, inputs) =>
    (await import(`${process.cwd()}/components/images/hetznerSnapshotLookup.ts`)).diff(id, before, inputs),
  update: async (id, before, inputs) =>
    (await import(`${process.cwd()}/components/images/hetznerSnapshotLookup.ts`)).update(id, before, inputs),
  read: async (id, before) =>
    (await import(`${process.cwd()}/components/images/hetznerSnapshotLookup.ts`)).read(id, before),
};
