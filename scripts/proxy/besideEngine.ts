// Runs the engine with a proxy for the API of its platform, as the engine's parent process: both run where that API is reachable, inside a lab or on this
// host, and the proxy lives exactly as long as the engine, even if the npm command is killed. Called with its settings as JSON, and a command.
import { directVariable, type ProxiedApi } from "../../components/api/proxiedApi.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { runAttached } from "../base/run.ts";
import { ApiProxy } from "./apiProxy.ts";
import { StackRow } from "./stackRow.ts";
import { Tunnel } from "./tunnel.ts";

/** Its input. */
export interface ProxyCall {
  /** The API's name in messages: "Hetzner". */
  readonly title: string;
  readonly proxied: ProxiedApi;
}

const [call = "", program = "", ...args] = process.argv.slice(2);
const { title, proxied }: ProxyCall = JSON.parse(call);
// A line in between would disturb the engine's display in a terminal: there it is shown in the engine's row of the stack.
const row = process.stdout.isTTY ? new StackRow() : undefined;
const report = (text: string) => (row === undefined ? console.error(`sluice: ${text}`) : row.show(text));
const options = { title, clock: systemClock, random: Math.random, report };

const { proxy, variables } = await started();
try {
  process.exitCode = await runAttached(program, args, { env: { ...process.env, ...variables } });
} finally {
  proxy.close();
  await row?.close();
}

async function started(): Promise<{ proxy: ApiProxy | Tunnel; variables: NodeJS.ProcessEnv }> {
  if (proxied.by === "tunnel") {
    const proxy = await Tunnel.start(options);
    return { proxy, variables: { [proxied.variable]: proxy.url } };
  }
  const { variable, usualUrl } = proxied;
  const url = process.env[variable] || usualUrl;
  const proxy = await ApiProxy.start({ ...options, url });
  return { proxy, variables: { [variable]: proxy.url, [directVariable(variable)]: url } };
}
