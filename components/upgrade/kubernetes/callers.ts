// Who asks for APIs that are going to be removed, by the audit log that Talos lets every API server write.
import { type NodeClient, using } from "../../talos/access/nodeAccess.ts";
import type { DeprecatedCalls } from "./deprecatedCalls.ts";

const auditLog = "/var/log/audit/kube/kube-apiserver.log";
/** Seconds for the file, which has up to 100 MB. */
const readSeconds = 20;
/** The most callers of one API that are named. */
const mostCallers = 5;

interface AuditEvent {
  readonly user?: { readonly username?: string };
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly apiGroup?: string; readonly apiVersion?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Users with their programs: "system:serviceaccount:apps:web (kubectl/v1.35.4)". Those that were found if the file cannot be read to its end. */
export async function callersOf(
  { group, version, resource }: Pick<DeprecatedCalls, "group" | "version" | "resource">,
  open: () => NodeClient,
): Promise<readonly string[]> {
  const callers = new Set<string>();
  const isCall = ({ objectRef, annotations }: AuditEvent) =>
    annotations?.["k8s.io/deprecated"] === "true" &&
    objectRef?.resource === resource &&
    objectRef.apiVersion === version &&
    (objectRef.apiGroup ?? "") === group;
  const read = async (client: NodeClient) => {
    for await (const line of client.fileLines(auditLog, { deadlineSeconds: readSeconds })) {
      const event = line.includes('"k8s.io/deprecated"') ? eventIn(line) : undefined;
      if (event !== undefined && isCall(event)) callers.add(callerIn(event));
      if (callers.size >= mostCallers) return;
    }
  };
  await using(open(), read).catch(() => undefined);
  return [...callers];
}

/** The first part of a user agent is the program. */
function callerIn({ user, userAgent = "" }: AuditEvent): string {
  const [program = ""] = userAgent.split(" ");
  return program === "" ? (user?.username ?? "") : `${user?.username} (${program})`;
}

/** A line may be cut off. */
function eventIn(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
