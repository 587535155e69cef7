// Decides which failures of resources are transient, by the words of plugins, clouds and Kubernetes. docs/decisions/resume.md

import type { FailureCode } from "../../components/errors/catalogue.ts";
import { hasWindow } from "../base/resourceWords.ts";

/** A resource that failed, and why. */
export interface FailedResource {
  /** `hcloud:index/server:Server` */
  readonly type: string;
  readonly name: string;
  /** In the words of its provider. */
  readonly reason: string;
}

/** What to do after a failure. */
export type Judgement =
  /** Another run may succeed. `seen` continues a sentence: "answered 503". */
  | { readonly kind: "transient"; readonly seen: string }
  /** A consequence of another failure: the engine cancels what is in progress. */
  | { readonly kind: "consequence" }
  /** Someone has to act first. */
  | { readonly kind: "final" };

type Rule = readonly [pattern: RegExp, seen: string | ((match: RegExpExecArray) => string)];

/** Helm's words for a release of which an interrupted operation has left a record. */
const unfinishedRelease =
  /cannot re-use a name that is still in use|another operation \(install\/upgrade\/rollback\) is in progress/;

const consequence =
  /the update is incomplete: the next `up` makes it again|client connection is closing|context canceled|The request was cancelled while|code = Canceled\b|Interrupted: |: the run ended before /;

/** If the message contains one of these, waiting does not help, whatever else it contains. */
const final: readonly RegExp[] = [
  /\b(unauthorized|forbidden|permission check failed|permission denied|authentication failure)\b/i,
  /\b(invalid_input|token_readonly|resource_limit_exceeded|resource_unavailable|placement_error)\b/,
  /\bx509:|certificate (has expired|is not valid|signed by)|self-signed certificate|unable to verify the first certificate/,
  /\bis invalid:|admission webhook .* denied|no matches for kind|failed to parse kubeconfig/,
  // An unknown name is misspelt; a failed lookup means that the name server does not answer.
  /\bno such host\b|ENOTFOUND/,
];

/** The first match determines the cause that is reported. */
const transient: readonly Rule[] = [
  [unfinishedRelease, "was left unfinished"],
  // An answer with a status, from the API or from a proxy in front of it.
  [
    /\brate_limit_exceeded\b|\b(?:too many requests|toomanyrequests)\b|\bstatus code:? 429|\bHTTP 429\b/i,
    "answered 429",
  ],
  // Proxmox answers 500 to everything that it refuses: only the status of a proxy in front of it is meaningful.
  [
    /\b(?:status code:?|status:?) (50[0234])\b|\bHTTP (50[234]|59[569]) response\b/i,
    ([, it, other]) => `answered ${it ?? other}`,
  ],
  [
    /\b(50[0234]) (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)/i,
    ([, it]) => `answered ${it}`,
  ],
  // Without a reason: Proxmox gives one when it refuses, and Kubernetes' client prints only the name of the status.
  [/\bHTTP 500 response - Reason: Internal Server Error\b/, "answered 500"],
  [/: Internal Server Error\s*$/m, "answered 500"],
  // The format in which components/api/callApi.ts reports Sluice's own calls.
  [/\bhttps?:\S+ answers (5\d\d|429)/, ([, it]) => `answered ${it}`],
  [/\bhttps?:\S+ does not answer: /, "did not answer"],
  // Hetzner's codes, followed by a correlation id or the number of an action.
  [/(?:\(|Error code: )action_failed\b/, "reported a failed action"],
  [/(?:\(|Error code: )(?:locked|conflict)\b/, "is locked by another action"],
  [
    /(?:\(|Error code: )(service_error|server_error|unknown_error|unavailable|bad_gateway|timeout|maintenance|robot_unavailable)\b/,
    ([, code]) => `answered ${code}`,
  ],
  // An answer was lost and the plugin asked again, or an earlier run was killed: the resource is adopted before the next run.
  [
    /\(uniqueness_error\b|Error code: uniqueness_error|unable to create VM \d+: config file already exists/,
    "exists already",
  ],
  // Proxmox: locks of VMs, of storages and of the cluster's file system, and tasks that cannot be started.
  [/can't lock file|cfs-lock|trying to acquire (?:cfs )?lock|\bgot timeout\b/i, "could not get a lock"],
  [/got no worker upid/, "could not start a task"],
  [/timeout while waiting for (?:task|VM "?\d+"? (?:to enter|configuration))/, "did not complete in time"],
  // Connection errors.
  [/connection refused|ECONNREFUSED/i, "refused the connection"],
  [
    /connection reset|ECONNRESET|broken pipe|\bEOF\b|connection lost|GOAWAY|server closed idle connection|transport is closing/i,
    "reset the connection",
  ],
  [/no route to host|network is unreachable|EHOSTUNREACH|ENETUNREACH/i, "could not be reached"],
  [/temporary failure in name resolution|server misbehaving|EAI_AGAIN/i, "could not be looked up"],
  [/deadline exceeded|Client\.Timeout|i\/o timeout|handshake timeout|ETIMEDOUT|timed out/i, "did not answer in time"],
  // The Kubernetes API while it starts, or while its etcd elects a leader.
  [/\betcdserver: |leader changed/, "had no etcd leader"],
  [
    /an error on the server .*has prevented the request|unable to handle the request|unable to return a response in the time/s,
    "could not handle the request",
  ],
  [/cluster (?:is )?unreachable|unreachable cluster/, "did not reach the Kubernetes API"],
  [/unable to load schema information|unable to recognize/, "did not get the Kubernetes API's schema"],
  [/failed to become available within allocated timeout/, "was interrupted"],
];

/** Our own transient failures: after the retries that make sense within a run, and by the API's words. */
const ofApis: readonly FailureCode[] = ["SLU-M102", "SLU-M111", "SLU-M115"];
const always: Partial<Record<FailureCode, string>> = {
  "SLU-K201": "was not updated: the Kubernetes API did not answer",
  "SLU-T107": "did not answer",
};

export function judge({ type, reason }: FailedResource): Judgement {
  if (consequence.test(reason)) return { kind: "consequence" };
  // A gate has already waited until its deadline.
  if (hasWindow(type)) return { kind: "final" };
  const [code] = /\bSLU-[A-Z]\d{3}\b/.exec(reason) ?? [];
  if (code !== undefined) {
    const seen = always[code as FailureCode];
    if (seen !== undefined) return { kind: "transient", seen };
  }
  // Of our own failures only those are transient that the catalogue describes so: gates and nodes were retried already.
  const isOurs = type.startsWith("pulumi-nodejs:") || type === "pulumi:pulumi:Stack";
  if ((isOurs || code !== undefined) && !ofApis.includes(code as FailureCode)) return { kind: "final" };
  if (final.some((pattern) => pattern.test(reason))) return { kind: "final" };
  for (const [pattern, seen] of transient) {
    const match = pattern.exec(reason);
    if (match !== null) return { kind: "transient", seen: typeof seen === "string" ? seen : seen(match) };
  }
  return { kind: "final" };
}
