// What is found out on the nodes before the first of them is changed: a failure here leaves all of them as they are.
import { SluiceError } from "../../errors/sluiceError.ts";
import { imageFactory, register } from "../../images/imageFactory.ts";
import { type NodeResourceContext, using } from "../../talos/access/nodeAccess.ts";
import { asFailure } from "../../talos/access/nodeFailure.ts";
import { runningConfig } from "../../talos/access/nodeResources.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { unsupportedTalosStep } from "../../talos/config/talosStep.ts";
import { minorOf } from "../../talos/config/versions.ts";
import type { ConfigValidator } from "./configValidator.ts";
import type { NodeRows } from "./nodeRows.ts";
import type { SystemLook } from "./systemLook.ts";
import { pullInstaller } from "./systemUpgrade.ts";
import type { UpgradeNode } from "./upgradedCluster.ts";

export interface Preparation {
  readonly credentials: TalosCredentials;
  /** For a node to pull the installer. */
  readonly pullSeconds: number;
  /** The schematic, which the Image Factory must know before it has an installer of it. */
  readonly schematic?: { readonly factory: string; readonly yaml: string } | undefined;
}

export interface UpgradeContext extends NodeResourceContext {
  readonly validate: ConfigValidator;
}

/** A node and what it runs. */
export interface Observed {
  readonly node: UpgradeNode;
  readonly system: SystemLook;
}

export async function prepareNodes(
  todo: readonly Observed[],
  { credentials, schematic, pullSeconds }: Preparation,
  rows: NodeRows,
  context: UpgradeContext,
): Promise<void> {
  for (const one of todo) refuseStep(one);
  for (const one of todo) await refuseInvalidConfig(one, credentials, context);
  if (schematic !== undefined) {
    context.report("registers the schematic at the Image Factory");
    await register(imageFactory(schematic.factory), schematic.yaml);
  }
  await pullEverywhere(todo, { credentials, pullSeconds }, rows, context);
}

function refuseStep({ node: { name: where, wanted }, system: { version } }: Observed): void {
  const step = unsupportedTalosStep(version, wanted.version);
  if (step !== undefined) {
    throw new SluiceError({ code: "SLU-T401", where, seen: unchanged(step.seen), remedy: step.remedy });
  }
}

/** Without a validator, an older Talos is refused: it may not read what a newer one does. */
async function refuseInvalidConfig(
  { node, system }: Observed,
  credentials: TalosCredentials,
  { access, validate, report }: UpgradeContext,
): Promise<void> {
  report(`${node.name}: validates its machine config for Talos ${node.wanted.version}`);
  const running = await using(access.configured(node.talosAddress, credentials), (client) => runningConfig(client));
  const faults = running === undefined ? [] : await validate(running);
  const { version } = node.wanted;
  const isOlder = (minorOf(version) ?? 0) < (minorOf(system.version) ?? 0);
  const words =
    faults === undefined
      ? isOlder
        ? ["an older Talos may not read its config, and only `npm run up` can find that out beforehand"]
        : []
      : faults.map((fault) => `Talos ${version}: ${fault}`);
  if (words.length > 0) {
    throw new SluiceError({ code: "SLU-T402", where: node.name, seen: unchanged(words.join("; ")) });
  }
}

/** A node that cannot pull the image is found now, and all of them are named. */
async function pullEverywhere(
  todo: readonly Observed[],
  { credentials, pullSeconds }: Pick<Preparation, "credentials" | "pullSeconds">,
  rows: NodeRows,
  { access }: UpgradeContext,
): Promise<void> {
  const pulled = await Promise.all(
    todo.map(async ({ node: { name: where, talosAddress, wanted }, system }) => {
      const report = rows.of(where);
      report("pulls the installer");
      try {
        await using(access.configured(talosAddress, credentials), (client) =>
          pullInstaller(client, system.version, wanted.installer, { deadlineSeconds: pullSeconds, report }),
        );
        return [];
      } catch (error) {
        const seen = `${wanted.installer}: ${asFailure(error, "SLU-T403").seen}`;
        return [{ code: "SLU-T403", what: "every node to pull the installer", where, seen } as const];
      } finally {
        rows.done(where);
      }
    }),
  );
  const [first, ...others] = pulled.flat();
  if (first !== undefined) throw new SluiceError({ ...first, others });
}

function unchanged(seen: string): string {
  return `${seen}. Nothing was changed`;
}
