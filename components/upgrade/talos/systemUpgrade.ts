// Brings another Talos onto the disk of one node, boots it, and proves that it runs.
import { status } from "@grpc/grpc-js";
import { SluiceError } from "../../errors/sluiceError.ts";
import type { Role } from "../../model/role.ts";
import { type NodeClient, type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import { asFailure } from "../../talos/access/nodeFailure.ts";
import { TargetNode } from "../../talos/access/targetNode.ts";
import { codeOf } from "../../talos/client/connection.ts";
import { maskedLine } from "../../talos/client/maskedLog.ts";
import { isUnanswered } from "../../talos/client/nodeState.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { isAtLeast } from "../../talos/config/versions.ts";
import type { WantedTalos } from "../../talos/config/wantedTalos.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import type { Delays } from "../../waiting/rounds.ts";
import { judgeBoot, systemName } from "./bootVerdict.ts";
import { failureLines, lastInstallation } from "./installLog.ts";
import { brokenWhenGone } from "./liveNode.ts";
import { isInstalling, lookAtSystem, type SystemLook } from "./systemLook.ts";

export interface SystemTarget {
  readonly name: string;
  readonly role: Role;
  readonly talosAddress: string;
  readonly wanted: WantedTalos;
  /** The schematic of the image that its machine was made from, which is equivalent to the wanted one. */
  readonly own?: string | undefined;
}

/** Seconds for a call that a node answers at once or not at all. */
const shortCallSeconds = 5;
/** Seconds for MachineService.Upgrade: it pulls the image, if that is not there, and runs it once before it answers. */
const upgradeCallSeconds = 600;
/** Seconds for which a node must stay as it is to count as not having received a call whose answer was lost. */
const unmovedSeconds = 10;
/** Seconds for which a node may be in maintenance after a boot: then it cannot read its config. */
const maintenanceSeconds = 20;
/** Lines of a log that are read, and that a failure shows. */
const readLines = 60;
const shownLines = 6;
const delays: Delays = { firstMs: 250, factor: 1.3, mostMs: 1_000 };

/** What a node is at one moment. */
type Look =
  | { readonly kind: "away" | "maintenance"; readonly why: string }
  | { readonly kind: "up"; readonly system: SystemLook };

export class SystemUpgrade {
  private readonly target: SystemTarget;
  private readonly node: TargetNode;
  private readonly context: NodeContext;
  /** What the node's log says of a failure, secrets masked; it is gone with the boot that it is of. */
  private words: readonly string[] = [];

  /** `until` is the deadline, by the clock. */
  constructor(target: SystemTarget, credentials: TalosCredentials, until: number, context: NodeContext) {
    this.target = target;
    this.node = new TargetNode({ ...target, credentials }, until, context);
    this.context = context;
  }

  /** Resolves when the node runs the wanted Talos, and is as ready as it was `before`. */
  async run(before: SystemLook): Promise<void> {
    if (isAtLeast(before.version, 13)) {
      const isStillUp = (await this.install(before)) === "installed";
      if (isStillUp) await this.reboot(before);
    } else {
      await this.upgrade(before);
    }
    await this.boot(before);
  }

  /** Waits until the node has booted the wanted Talos and is as ready as it was `before`. */
  async boot(before: SystemLook): Promise<void> {
    const { wanted, own } = this.target;
    let inMaintenanceSince: number | undefined;
    await this.poll(async () => {
      const now = await this.look();
      if (now.kind !== "up") {
        inMaintenanceSince = now.kind === "maintenance" ? (inMaintenanceSince ?? this.context.clock.now()) : undefined;
        this.refuseMaintenance(inMaintenanceSince);
        return this.late(now.why);
      }
      inMaintenanceSince = undefined;
      const verdict = judgeBoot(now.system, { before, wanted, own });
      if (verdict.kind === "up") return { found: true };
      if (verdict.kind === "waiting") {
        await this.listen(now.system);
        return this.late(verdict.why);
      }
      const runs = verdict.kind === "returned" ? `${systemName(now.system)} again` : verdict.runs;
      throw this.failure("SLU-T405", `it rebooted for ${systemName(wantedSystem(wanted))}, and runs ${runs}`);
    });
  }

  /** Runs the installer once. "rebooted": the node has booted meanwhile, whatever caused it. */
  private async install(before: SystemLook): Promise<"installed" | "rebooted"> {
    const { installer } = this.target.wanted;
    let hasPulled = false;
    return await this.poll<"installed" | "rebooted">(async () => {
      const now = await this.look();
      if (now.kind !== "up") return this.late(now.why);
      if (now.system.bootId !== before.bootId) return { found: "rebooted" };
      return await using(this.node.open(), async (client): Promise<Polled<"installed" | "rebooted">> => {
        const last = lastInstallation(await client.logLines("machined", readLines));
        if (await isInstalling(client)) return this.late("waits for an installer that is already running");
        if (last.kind === "installed" && last.image === installer) return { found: "installed" };
        try {
          // Talos deletes images that nothing uses after a while.
          await pullInstaller(client, before.version, installer, { deadlineSeconds: this.secondsLeft() });
          hasPulled = true;
          return await this.runInstaller(client, before);
        } catch (error) {
          if (error instanceof SluiceError) throw error;
          if (isUnanswered(error)) return this.late(`the connection broke: ${asFailure(error, "SLU-T107").seen}`);
          if (codeOf(error) === status.FAILED_PRECONDITION && /in progress/.test(String(error)))
            return this.late("waits for an installer that is already running");
          throw this.failure(hasPulled ? "SLU-T404" : "SLU-T403", asFailure(error, "SLU-T404").seen);
        }
      });
    });
  }

  /** One call. Its stream ends with the exit code; without one it is unknown how the installation goes. */
  private async runInstaller(client: NodeClient, before: SystemLook): Promise<Polled<"installed">> {
    const { installer } = this.target.wanted;
    const printed: string[] = [];
    const live = brokenWhenGone(() => this.node.open(), before.bootId, this.context);
    this.context.report("installs");
    try {
      const options = { deadlineSeconds: this.secondsLeft(), signal: live.signal };
      for await (const output of client.system.install(installer, options)) {
        if ("exitCode" in output) {
          if (output.exitCode === 0) return { found: "installed" };
          this.words = shown(printed);
          throw this.failure("SLU-T404", `the installer exited with ${output.exitCode}`);
        }
        printed.push(...output.text.split("\n"));
        this.context.report(`installs: ${maskedLine(printed.findLast((line) => line.trim() !== "") ?? "")}`);
      }
    } finally {
      live.end();
    }
    return this.late("the installer's output ended without its exit code");
  }

  private async reboot(before: SystemLook): Promise<void> {
    await this.poll(async () => {
      const now = await this.look();
      if (now.kind !== "up") return this.late(now.why);
      if (now.system.bootId !== before.bootId || now.system.stage === "rebooting") return { found: true };
      try {
        await using(this.node.open(), (client) => this.node.reboot(client, `Talos ${this.target.wanted.version}`));
        return { found: true };
      } catch (error) {
        const failure = asFailure(error, "SLU-T406");
        if (!failure.retryable) throw failure;
        return { late: failure };
      }
    });
  }

  /** One call that does everything. It is repeated only once the node has certainly not received it. */
  private async upgrade(before: SystemLook): Promise<void> {
    const { installer } = this.target.wanted;
    let unmovedSince: number | undefined;
    await this.poll(async () => {
      const now = await this.look();
      const { clock } = this.context;
      if (now.kind !== "up") {
        if (unmovedSince !== undefined) unmovedSince = clock.now();
        return this.late(now.why);
      }
      if (now.system.bootId !== before.bootId || now.system.stage !== before.stage) return { found: true };
      if (unmovedSince !== undefined && clock.now() - unmovedSince < unmovedSeconds * 1000)
        return this.late("checks whether it received the upgrade call");
      this.context.report("is upgraded");
      try {
        await using(this.node.open(), (client) =>
          client.system.upgrade(installer, { deadlineSeconds: Math.min(upgradeCallSeconds, this.secondsLeft()) }),
        );
        return { found: true };
      } catch (error) {
        if (!isUnanswered(error)) throw this.failure(codeOfUpgrade(error), asFailure(error, "SLU-T404").seen);
        unmovedSince = clock.now();
        return this.late(`the answer to the upgrade call is lost: ${asFailure(error, "SLU-T107").seen}`);
      }
    });
  }

  private async look(): Promise<Look> {
    const state = await this.node.observe();
    if (state.kind === "foreign") throw new SluiceError({ code: "SLU-T109", seen: state.why });
    if (state.kind === "maintenance") return { kind: "maintenance", why: "is in maintenance" };
    if (state.kind === "settling") return { kind: "away", why: `boots, stage ${state.stage}` };
    if (state.kind !== "ours") return { kind: "away", why: `is away: ${state.why}` };
    try {
      const options = { deadlineSeconds: shortCallSeconds };
      return { kind: "up", system: await using(this.node.open(), (client) => lookAtSystem(client, options)) };
    } catch (error) {
      const { seen, retryable } = asFailure(error, "SLU-T107");
      if (!retryable) throw error;
      return { kind: "away", why: `is away: ${seen}` };
    }
  }

  /** Keeps what the logs say of a failure, for as long as there is something to read. */
  private async listen({ stage, isReady }: SystemLook): Promise<void> {
    if (stage === "running" && isReady) return;
    const options = { deadlineSeconds: shortCallSeconds };
    await using(this.node.open(), async (client) => {
      const machined = await client.logLines("machined", readLines, options);
      // Before Talos 1.13 only the kernel's log has what the installer prints.
      const kernel = stage === "upgrading" ? await client.kernelLines(readLines, options) : [];
      const found = failureLines([...kernel, ...machined]);
      if (found.length > 0) this.words = shown([...new Set(found)]);
    }).catch(() => undefined);
  }

  private refuseMaintenance(since: number | undefined): void {
    if (since === undefined || this.context.clock.now() - since < maintenanceSeconds * 1000) return;
    const { version } = this.target.wanted;
    throw this.failure("SLU-T406", `it booted into maintenance: Talos ${version} does not read its machine config`);
  }

  private late(why: string): { readonly late: SluiceError } {
    this.context.report(why);
    return { late: this.failure("SLU-T406", why) };
  }

  private failure(code: "SLU-T403" | "SLU-T404" | "SLU-T405" | "SLU-T406", seen: string): SluiceError {
    return new SluiceError({ code, seen, ...(this.words.length > 0 && { log: this.words.join("\n") }) });
  }

  private secondsLeft(): number {
    return Math.max(1, (this.node.until - this.context.clock.now()) / 1000);
  }

  private async poll<T>(look: () => Promise<Polled<T>>): Promise<T> {
    return await poll(look, { ...this.context, until: () => this.node.until, delays });
  }
}

/** Pulls the image that a node will be upgraded with. Does nothing if it is there. */
export async function pullInstaller(
  client: NodeClient,
  version: string,
  installer: string,
  options: { readonly deadlineSeconds: number; readonly report?: (text: string) => void },
): Promise<void> {
  const { deadlineSeconds, report } = options;
  if (!isAtLeast(version, 13)) {
    await client.system.pullSilently(installer, { deadlineSeconds });
    return;
  }
  for await (const { bytes, ofBytes } of client.system.pull(installer, { deadlineSeconds })) {
    if (ofBytes > 0) report?.(`pulls the installer: ${Math.floor((bytes / ofBytes) * 100)} %`);
  }
}

/** Talos' own words decide: the call has the same code for all of them. */
function codeOfUpgrade(error: unknown): "SLU-T403" | "SLU-T404" {
  return /validating installer image/.test(String(error)) ? "SLU-T403" : "SLU-T404";
}

function shown(lines: readonly string[]): readonly string[] {
  const said = lines.map(maskedLine).filter((line) => line !== "");
  return said.slice(-shownLines);
}

function wantedSystem({ version, schematic = "" }: WantedTalos) {
  return { version, schematic };
}
