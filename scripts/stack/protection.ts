// What keeps a stack from being destroyed, and how its owner allows that.
import { text } from "../../components/model/untyped.ts";
import { resourcesIn } from "./exported.ts";

/** From what `pulumi stack export` prints; undefined where nothing is protected. */
export function protectionAdvice(name: string, exported: unknown): string | undefined {
  const all = resourcesIn(exported);
  if (!all.some(({ protect }) => protect === true)) return undefined;
  // The account's own protection goes with an update alone, and an update may be impossible before there is any machine.
  const hasMachines = all.some(({ type, custom }) => custom === true && /^(hcloud|proxmoxve):/.test(text(type)));
  const steps = hasMachines
    ? `set protect to false in Pulumi.${name}.yaml, 'npm run up -- ${name}'`
    : `'npm run pulumi -- state unprotect --all --yes --stack ${name}'`;
  return `${name} is protected. To destroy it: ${steps}, then 'npm run destroy -- ${name}'`;
}
