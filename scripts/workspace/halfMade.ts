// What a run has begun to make and could not finish. The engine takes that for made and updates it from then on: a server that was never started stays
// off, and for a subnet there is no update at all. What is tainted the next `up` makes anew.
import { resourcesIn, text } from "../summary/stackState.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { root } from "./paths.ts";
import { run } from "./run.ts";
import type { Stack } from "./stack.ts";

/** With nothing in them yet that could be lost. All others an update makes whole. */
const kinds = [
  "hcloud:index/networkSubnet:NetworkSubnet",
  "hcloud:index/server:Server",
  "proxmoxve:index/vmLegacy:VmLegacy",
];

/** Of what `pulumi stack export` prints: the URNs. What is protected its owner decides about. */
export function halfMade(exported: unknown): readonly string[] {
  return resourcesIn(exported).flatMap(({ type, urn, initErrors, protect, taint }) => {
    const reasons: readonly unknown[] = Array.isArray(initErrors) ? initErrors : [];
    const isBegun = reasons.some((reason) => text(reason).startsWith("creating "));
    return isBegun && kinds.includes(text(type)) && protect !== true && taint !== true ? [text(urn)] : [];
  });
}

/** After a run that failed. Never throws: why it failed says more. */
export async function taintHalfMade({ pulumi }: Toolchain, { name, environment: env }: Stack): Promise<void> {
  const call = (...args: readonly string[]) => run(pulumi, [...args, "--stack", name], { cwd: root, env });
  const exported = await call("stack", "export");
  if (exported.code !== 0) return;
  const urns = halfMade(JSON.parse(exported.stdout));
  if (urns.length === 0) return;
  const tainted = await call("state", "taint", ...urns, "--yes");
  const names = urns.map((urn) => urn.split("::").at(-1)).join(", ");
  console.error(
    tainted.code === 0
      ? `sluice: ${names}: begun and not finished; the next 'up' makes it anew`
      : `sluice: ${names}: begun and not finished. To have it made anew: 'npm run up -- ${name} --replace ${urns.join(" --replace ")}'`,
  );
}
