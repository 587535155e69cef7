import { count } from "../../model/count.ts";
import { type ConfigChange, configChanges } from "./configDiff.ts";
import { mainDocument } from "./configDocuments.ts";
import { rebootChanges } from "./rebootRules.ts";

/** More lines do not help in a preview. */
const most = 40;

/** A change of a node's config for users, in lines, secrets masked. */
export function configSummary(node: string, before: string, after: string, { isComplete = false } = {}): string {
  const changes = configChanges(before, after);
  if (changes === undefined) return `${node}: the machine config changes; it cannot be read, so nothing of it is shown`;
  if (changes.length === 0) return `${node}: the machine config means the same as before`;
  const reboots = new Set(rebootChanges(before, after).map(placeOf));
  const lines = changes.map((change) => `  ${changeText(change)}${reboots.has(placeOf(change)) ? "  [reboot]" : ""}`);
  const shown =
    !isComplete && lines.length > most ? [...lines.slice(0, most), `  and ${lines.length - most} more`] : lines;
  const how = reboots.size > 0 ? `${node} REBOOTS` : "without a reboot";
  return [`${node}: ${count(changes.length, "change")} of the machine config, ${how}`, ...shown].join("\n");
}

/** "machine.certSANs.0", "LinkConfig lo: mtu". A key that contains a dot is in quotes. */
export function placeOf({ document, path }: ConfigChange): string {
  const place = path.map((key) => (/[.\s]/.test(key) ? JSON.stringify(key) : key)).join(".");
  if (document === mainDocument) return place || document;
  return place === "" ? document : `${document}: ${place}`;
}

/** One change, secrets masked: "~ machine.certSANs.0: a -> b". */
export function changeText(change: ConfigChange): string {
  const { was, is } = change;
  const place = placeOf(change);
  if (was === undefined) return `+ ${place}: ${is}`;
  if (is === undefined) return `- ${place}: ${was}`;
  return was === is ? `~ ${place}: ${is} (changed)` : `~ ${place}: ${was} -> ${is}`;
}
