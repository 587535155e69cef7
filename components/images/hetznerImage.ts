import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { HetznerSnapshot } from "./hetznerSnapshot.ts";
import { type PackerVariablesArgs, packerVariables } from "./packerVariables.ts";
import { schematicId } from "./schematic.ts";
import { snapshotLabels } from "./snapshotLabels.ts";

export interface HetznerImageArgs extends PackerVariablesArgs {
  /** Make a snapshot with Packer where there is none. */
  readonly build: boolean;
  /** Seconds in which it must be found. */
  readonly deadline: number;
  /** Of the Hetzner project. */
  readonly token: pulumi.Input<string>;
  /** The token is none: what the state has of it is to stay. */
  readonly isTokenStandIn: boolean;
}

/** S0.1: the snapshot that servers start from, made before where that is asked for. */
export class HetznerImage extends pulumi.ComponentResource {
  /** The snapshot's id, as a server takes it. */
  readonly image: pulumi.Output<string>;

  constructor(name: string, args: HetznerImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:images:HetznerImage", name, {}, opts);

    const labels = args.labels ?? snapshotLabels({ ...args, schematicId: schematicId(args.schematic) });
    const { architecture, token } = args;
    const made = args.build ? [makeWhereMissing(this, name, args)] : [];
    const snapshot = new HetznerSnapshot(
      name,
      { labels, architecture, token, remedy: remedy(args.build), deadline: args.deadline },
      {
        parent: this,
        dependsOn: made,
        // Without a token of one's own, what the state has serves a preview.
        ignoreChanges: args.isTokenStandIn ? ["token"] : [],
      },
    );

    this.image = snapshot.snapshotId;
    this.registerOutputs({ image: this.image });
  }
}

/** The command looks by itself whether there is one: what it finds is not for the state, which would be drift after the first run. */
function makeWhereMissing(parent: pulumi.Resource, name: string, args: HetznerImageArgs) {
  return new command.local.Command(
    `${name}-build`,
    {
      create: "node scripts/hetznerSnapshot.ts",
      environment: {
        HCLOUD_TOKEN: pulumi.secret(args.token),
        // Packer reads its variables from these, and so does the script.
        ...packerVariables(args),
      },
    },
    {
      parent,
      // Without a token of one's own, what the state has serves a preview.
      ignoreChanges: args.isTokenStandIn ? ["environment.HCLOUD_TOKEN"] : [],
    },
  );
}

/** One command, that makes one which is found then. */
function remedy(build: boolean): string {
  const make = `npm run snapshot -- ${pulumi.getStack()}`;
  return build
    ? `hetzner.snapshot.build is on and made it once: it was removed since, or made under other labels. Make it anew: ${make}`
    : `Make it: ${make}; or have it made: hetzner.snapshot.build: true; or name the labels of one that is there: hetzner.snapshot.labels.`;
}
