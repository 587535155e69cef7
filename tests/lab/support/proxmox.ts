// The lab's Proxmox cluster, called with curl and the token of the lab's shell.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/base/paths.ts";
import type { Answer, InLab } from "./cloud.ts";

export class Proxmox {
  private readonly lab: InLab;
  private readonly access: Promise<{ endpoint: string; token: string }>;

  /** The cluster, as a client with this token; the lab's own may do everything. */
  constructor(lab: InLab, token?: string) {
    this.lab = lab;
    this.access = Promise.all(
      ["PROXMOX_VE_ENDPOINT", "PROXMOX_VE_API_TOKEN"].map((name) => lab.said("printenv", [name])),
    ).then(([endpoint = "", ours = ""]) => ({ endpoint: endpoint.trim(), token: token ?? ours.trim() }));
    this.access.catch(() => undefined); // reported by the first request
  }

  /** A request of the API, whatever its result; `reason` of the answer is its status line's text. */
  async ask(
    method: string,
    path: string,
    given: Readonly<Record<string, string>> = {},
  ): Promise<Answer & { reason: string }> {
    const { endpoint, token } = await this.access;
    const options = ["--silent", "--show-error", "--insecure", "--include", "--request", method];
    const data = Object.entries(given).flatMap(([key, value]) => ["--data-urlencode", `${key}=${value}`]);
    const form = method === "GET" || method === "DELETE" ? ["--get", ...data] : data;
    const header = ["--header", `Authorization: PVEAPIToken=${token}`];
    const said = await this.lab.said("curl", [...options, ...header, ...form, `${endpoint}/api2/json${path}`]);
    const [, status = "", reason = ""] = /^HTTP\/1\.1 (\d+) (.*?)\r?\n/.exec(said) ?? [];
    return { status: Number(status), reason, body: JSON.parse(said.slice(said.search(/\r?\n\r?\n/))) };
  }

  /** A request that must succeed; returns its data. */
  async call(method: string, path: string, given: Readonly<Record<string, string>> = {}): Promise<Answer["body"]> {
    const { status, reason, body } = await this.ask(method, path, given);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${reason} ${JSON.stringify(body)}`);
    return body.data;
  }

  /** A request that starts a task, which must succeed. */
  async done(method: string, path: string, given: Readonly<Record<string, string>> = {}): Promise<void> {
    const task: string = await this.call(method, path, given);
    const [, node] = /^UPID:([^:]+):/.exec(task) ?? [];
    for (;;) {
      const { status, exitstatus } = await this.call("GET", `/nodes/${node}/tasks/${encodeURIComponent(task)}/status`);
      if (status === "running") continue;
      if (exitstatus !== "OK") throw new Error(`${method} ${path}: ${exitstatus}`);
      return;
    }
  }

  /** Makes a user that may do this everywhere, and returns a token of it. */
  async account(userid: string, privs: string): Promise<string> {
    const roleid = userid.replace(/\W/g, "-");
    await this.call("POST", "/access/roles", { roleid, privs });
    await this.call("POST", "/access/users", { userid });
    await this.call("PUT", "/access/acl", { path: "/", roles: roleid, users: userid });
    const made = await this.call("POST", `/access/users/${userid}/token/test`, { privsep: "0" });
    return `${made["full-tokenid"]}=${made.value}`;
  }

  /** Everything that was created there, a line each. */
  async left(): Promise<string[]> {
    const resources = await this.call("GET", "/cluster/resources");
    const made = resources.filter(({ type }: { type: string }) => type === "qemu" || type === "pool");
    const lines = made.map(({ id }: { id: string }) => id);
    for (const { node } of await this.call("GET", "/nodes")) {
      for (const { storage } of await this.call("GET", `/nodes/${node}/storage`)) {
        const volumes = await this.call("GET", `/nodes/${node}/storage/${storage}/content`);
        lines.push(...volumes.map(({ volid }: { volid: string }) => `${node} ${volid}`));
      }
    }
    return lines;
  }
}

/** The privileges of the token's user in docs/proxmox.md. */
export function documentedPrivileges(): string {
  const page = readFileSync(join(root, "docs", "proxmox.md"), "utf8");
  const [, privileges] = /pveum role add \w+ --privs "([^"]+)"/.exec(page) ?? [];
  if (privileges === undefined) throw new Error("docs/proxmox.md makes no role");
  return privileges;
}
