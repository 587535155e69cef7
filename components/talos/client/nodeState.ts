import { status } from "@grpc/grpc-js";
import { codeOf } from "./connection.ts";
import { type Handshake, shake, type Validity } from "./handshake.ts";
import { resources } from "./resources.ts";
import { textOf } from "./specs.ts";
import { TalosClient, type TalosCredentials } from "./talosClient.ts";

/** The state of a node from this cluster's point of view, determined by one probe (S0.2). */
export type NodeState =
  /** It accepts a config from anybody. */
  | { readonly kind: "maintenance"; readonly version: string }
  /**
   * It answers anybody, but accepts nothing: it is on its way into maintenance, or has its config and waits for its certificate, which a worker gets from a
   * control plane (1.13 and later; earlier versions do not listen meanwhile).
   */
  | { readonly kind: "settling"; readonly version: string; readonly stage: string }
  /** It answers over mutual TLS with our PKI. */
  | { readonly kind: "ours"; readonly version: string }
  /** It answers with another PKI and accepts nothing from us; it is never overwritten. */
  | { readonly kind: "foreign"; readonly why: string }
  /** It has our PKI, but its certificate is not valid for the name that it is reached by, or at this time. */
  | { readonly kind: "invalid"; readonly of: Validity; readonly why: string }
  | {
      readonly kind: "unreachable";
      readonly why: string;
      /** Whether the machine is up but nothing listens: it boots, installs or reboots. */
      readonly refused: boolean;
    };

/** What one probe observed: the certificate that the node shows, then whether it answers a call that suits that certificate. */
export interface Look {
  readonly handshake: Handshake;
  readonly answer?: Answer;
}

type Answer =
  | { readonly kind: "answered"; readonly version: string; readonly stage: string }
  | { readonly kind: "failed"; readonly why: string };

/**
 * The state of a node from its probes, oldest first. The certificate that it shows is certain, and so is an answered call. A node that hangs up may just be
 * going down: it counts as foreign only after two such probes in a row. A failed call proves nothing.
 */
export function judgeNode(looks: readonly Look[]): NodeState {
  const last = looks.at(-1);
  if (last === undefined) return { kind: "unreachable", why: "it was not probed", refused: false };
  const { handshake, answer } = last;
  if (handshake.kind === "trusted" || handshake.kind === "untrusted") {
    if (answer?.kind === "answered") {
      const { version, stage } = answer;
      if (handshake.kind === "trusted") return { kind: "ours", version };
      return stage === "maintenance" ? { kind: "maintenance", version } : { kind: "settling", version, stage };
    }
    const why = answer?.why ?? "it hangs up";
    if (handshake.kind === "untrusted" && looks.length > 1 && looks.slice(-2).every(seemsForeign)) {
      return {
        kind: "foreign",
        why: `its certificate is not of our PKI (${handshake.why}) and it rejects ours`,
      };
    }
    return { kind: "unreachable", why, refused: false };
  }
  if (handshake.kind === "invalid") return handshake;
  return { kind: "unreachable", why: handshake.why, refused: handshake.kind === "refused" };
}

/** Its certificate is from another CA, and it hangs up on clients without a certificate from that CA. */
function seemsForeign({ handshake }: Look): boolean {
  return handshake.kind === "untrusted" && !handshake.isWelcome;
}

export interface ProbeOptions {
  readonly signal?: AbortSignal;
  /** Seconds for each step. */
  readonly timeoutSeconds?: number;
}

/** Determines the state of a node. Rejects only if its signal is aborted. */
export async function probe(
  talosAddress: string,
  credentials: TalosCredentials,
  options: ProbeOptions = {},
): Promise<NodeState> {
  const looks = [await look(talosAddress, credentials, options)];
  if (looks.every(seemsForeign)) looks.push(await look(talosAddress, credentials, options));
  return judgeNode(looks);
}

/** The client for a node in this state, if it answers to one. */
export function clientFor(
  state: NodeState,
  talosAddress: string,
  credentials: TalosCredentials,
): TalosClient | undefined {
  if (state.kind === "ours") return TalosClient.configured(talosAddress, credentials);
  const answersAnybody = state.kind === "maintenance" || state.kind === "settling";
  return answersAnybody ? TalosClient.maintenance(talosAddress) : undefined;
}

async function look(talosAddress: string, credentials: TalosCredentials, options: ProbeOptions): Promise<Look> {
  const { signal, timeoutSeconds = 3 } = options;
  signal?.throwIfAborted();
  const handshake = await shake(talosAddress, credentials, timeoutSeconds, signal);
  signal?.throwIfAborted();
  if (handshake.kind !== "trusted" && !(handshake.kind === "untrusted" && handshake.isWelcome)) return { handshake };
  const client =
    handshake.kind === "trusted"
      ? TalosClient.configured(talosAddress, credentials)
      : TalosClient.maintenance(talosAddress);
  try {
    const call = { deadlineSeconds: timeoutSeconds, ...(signal && { signal }) };
    // Uses resources, because 1.12 does not serve the call Version in maintenance.
    const [version, status] = await Promise.all([
      client.get(resources.version, "version", call),
      client.get(resources.machineStatus, "machine", call),
    ]);
    const told = { version: textOf(version?.spec, "version"), stage: textOf(status?.spec, "stage") };
    return { handshake, answer: { kind: "answered", ...told } };
  } catch (error) {
    signal?.throwIfAborted();
    return { handshake, answer: notAnswered(error) };
  } finally {
    client.close();
  }
}

/** Whether an error comes from the connection, and not from the node. */
export function isUnanswered(error: unknown): boolean {
  const code = codeOf(error);
  return [undefined, status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED].includes(code);
}

function notAnswered(error: unknown): Answer {
  const why = error instanceof Error ? ("details" in error ? String(error.details) : error.message) : String(error);
  return isUnanswered(error) ? { kind: "failed", why } : { kind: "answered", version: "", stage: "" };
}
