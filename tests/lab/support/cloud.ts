// The lab's Hetzner project, called as anyone calls the API: with curl, and the token that the lab's shell has.
import type { Lab } from "./lab.ts";

const endpoint = "http://192.0.2.10/v1";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is what the tests are about
  readonly body: any;
}

export interface ServerOptions {
  /** An id, or a name. */
  readonly image: number | string;
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly userData?: string;
  readonly start?: boolean;
}

export interface Server {
  readonly id: number;
  readonly name: string;
  readonly address: string;
}

/** A lab in which programs run. */
export type InLab = Pick<Lab, "said">;

export class Cloud {
  private readonly lab: InLab;
  private readonly token: Promise<string>;

  constructor(lab: InLab) {
    this.lab = lab;
    this.token = lab.said("printenv", ["HCLOUD_TOKEN"]).then((token) => token.trim());
    this.token.catch(() => undefined); // reported by the first request
  }

  /** A request of the API, whatever its result. */
  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const options = ["--silent", "--show-error", "--write-out", "\n%{http_code}", "--request", method];
    const authorization = ["--header", `Authorization: Bearer ${await this.token}`];
    const data = body === undefined ? [] : ["--json", JSON.stringify(body)];
    const said = await this.lab.said("curl", [...options, ...authorization, ...data, `${endpoint}${path}`]);
    const end = said.lastIndexOf("\n");
    const text = said.slice(0, end);
    return { status: Number(said.slice(end + 1)), body: text === "" ? undefined : JSON.parse(text) };
  }

  /** A request that must succeed; returns the body. */
  async call(method: string, path: string, body?: unknown): Promise<Answer["body"]> {
    const { status, body: answer } = await this.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  }

  /** The id of the newest snapshot of this Talos. */
  async snapshot(talos: string): Promise<number> {
    const selector = encodeURIComponent(`os=talos,version=${talos}`);
    const { images } = await this.call("GET", `/images?type=snapshot&sort=created:desc&label_selector=${selector}`);
    if (images.length === 0) throw new Error(`there is no snapshot of Talos ${talos}`);
    return images[0].id;
  }

  /** Makes a server; it boots while this returns. */
  async server(name: string, { type = "cx33", image, labels, userData, start = true }: ServerOptions): Promise<Server> {
    const { server } = await this.call("POST", "/servers", {
      name,
      server_type: type,
      image,
      location: "fsn1",
      labels,
      user_data: userData,
      start_after_create: start,
    });
    return { id: server.id, name, address: server.public_net.ipv4.ip };
  }

  /** Everything in the project that costs money or would block the next cluster, a line each. */
  async left(): Promise<string[]> {
    const kinds = ["servers", "networks", "firewalls", "placement_groups", "load_balancers", "primary_ips", "volumes"];
    const lists = kinds.map(async (kind) => {
      const { [kind]: items } = await this.call("GET", `/${kind}`);
      return items.map(({ name }: { name: string }) => `${kind} ${name}`);
    });
    return (await Promise.all(lists)).flat();
  }

  async delete(server: Server): Promise<void> {
    await this.call("DELETE", `/servers/${server.id}`);
  }
}
