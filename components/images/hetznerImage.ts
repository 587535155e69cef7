import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { HetznerSnapshot } from "./hetznerSnapshot.ts";
import { type PackerVariablesArgs, packerVariables } from "./packerVariables.ts";
import { schematicId } from "./schematic.ts";
import { snapshotLabels } from "./snapshotLabels.ts";

export interface HetznerImageArgs extends PackerVariablesArgs {
  /** Make a snapshot with Packer if there is none. */
  readonly build: boolean;
  /** Seconds in which it must be found. */
  readonly deadlineSeconds: number;
  /** The servers that start from it: the location of each, by its name. */
  readonly servers: Readonly<Record<string, string>>;
  /** Of the Hetzner project. */
  readonly token: pulumi.Input<string>;
  /** Whether the token is a placeholder: then the one in the state is kept. */
  readonly isTokenPlaceholder: boolean;
}

/** S0.1: the snapshot that servers start from; created first if `build` is set. */
export class HetznerImage extends pulumi.ComponentResource {
  /** The snapshot's id, as a server takes it. */
  readonly image: pulumi.Output<string>;

  constructor(name: string, args: HetznerImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:images:HetznerImage", name, {}, opts);

    const labels = args.labels ?? snapshotLabels({ ...args, schematicId: schematicId(args.schematic) });
    const { architecture, servers, token } = args;
    const made = args.build ? [makeWhereMissing(this, name, args)] : [];
    const snapshot = new HetznerSnapshot(
      name,
      { labels, architecture, servers, token, remedy: remedy(args.build), deadlineSeconds: args.deadlineSeconds },
      {
        parent: this,
        dependsOn: made,
        // With a placeholder token, a preview uses the one in the state.
        ignoreChanges: args.isTokenPlaceholder ? ["token"] : [],
      },
    );

    this.image = snapshot.snapshotId;
    this.registerOutputs({ image: this.image });
  }
}

/** The command checks itself whether a snapshot exists. Its result is not kept in the state, because it would be drift after the first run. */
function makeWhereMissing(parent: pulumi.Resource, name: string, args: HetznerImageArgs) {
  return new command.local.Command(
    `${name}-build`,
    {
      create: "node scripts/cli/snapshot.ts",
      environment: {
        HCLOUD_TOKEN: pulumi.secret(args.token),
        // Packer reads its variables from the environment, and so does the script.
        ...packerVariables(args),
      },
    },
    {
      parent,
      // With a placeholder token, a preview uses the one in the state.
      ignoreChanges: args.isTokenPlaceholder ? ["environment.HCLOUD_TOKEN"] : [],
    },
  );
}

/** The remedy names one command; its snapshot is then found. */
function remedy(build: boolean): string {
  const make = `npm run snapshot -- ${pulumi.getStack()}`;
  return build
    ? `hetzner.snapshot.build is on and made it once: since then it was deleted, or its labels have changed. Make it again: ${make}`
    : `Make one: ${make}; or set hetzner.snapshot.build to true; or set hetzner.snapshot.labels to the labels of an existing one.`;
}
