// Resources whose creation failed half-way. The engine treats them as created and from then on only updates them: a server that was never started stays off,
// and a subnet cannot be updated at all. They are tainted, so that the next `up` recreates them.

import { text } from "../../components/model/untyped.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { resourcesIn } from "./exported.ts";
import type { Stack } from "./stack.ts";

/**
 * The URNs of such resources of these types, from the output of `pulumi stack export`. Other types are completed by an update; for protected ones the owner
 * decides.
 */
export function failedCreations(exported: unknown, types: readonly string[]): readonly string[] {
  return resourcesIn(exported).flatMap(({ type, urn, initErrors, protect, taint }) => {
    const reasons: readonly unknown[] = Array.isArray(initErrors) ? initErrors : [];
    const isStarted = reasons.some((reason) => text(reason).startsWith("creating "));
    return isStarted && types.includes(text(type)) && protect !== true && taint !== true ? [text(urn)] : [];
  });
}

/** Called after a failed run. An unreadable state is left unchanged: the run's own failure says more. */
export async function taintFailedCreations({ pulumi }: Toolchain, { name, environment: env }: Stack): Promise<void> {
  const call = (...args: readonly string[]) => run(pulumi, [...args, "--stack", name], { cwd: root, env });
  const exported = await call("stack", "export");
  if (exported.code !== 0) return;
  const { allPlatforms } = await import("../../stacks/platforms/registry.ts");
  const types = allPlatforms.flatMap(({ recreatedTypes }) => recreatedTypes);
  const urns = failedCreations(JSON.parse(exported.stdout), types);
  if (urns.length === 0) return;
  const tainted = await call("state", "taint", ...urns, "--yes");
  const names = urns.map((urn) => urn.split("::").at(-1)).join(", ");
  console.error(
    tainted.code === 0
      ? `sluice: ${names}: creation failed half-way; the next 'up' recreates it`
      : `sluice: ${names}: creation failed half-way. To recreate it: npm run up -- ${name} --replace '${urns.join("' --replace '")}'`,
  );
}
