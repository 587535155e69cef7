import { type ConfigChange, configChanges } from "./configDiff.ts";
import { placeOf } from "./configSummary.ts";

/** More lines do not help in a report. */
const most = 5;

/** How a node's config differs from the one that was sent, a line each, secrets masked. None if they mean the same. */
export function configDrift(sent: string, found: string): readonly string[] {
  const changes = configChanges(sent, found);
  if (changes === undefined) return ["runs another machine config, which cannot be read"];
  const lines = changes.map((change) => `machine config: ${words(change)}`);
  return lines.length > most ? [...lines.slice(0, most), `machine config: ${lines.length - most} more`] : lines;
}

function words(change: ConfigChange): string {
  const { was: should, is } = change;
  const place = placeOf(change);
  if (should === undefined) return `${place} is ${is}, and should not be there`;
  if (is === undefined) return `${place} is missing, and should be ${should}`;
  return is === should ? `${place} has changed (${is})` : `${place} is ${is}, and should be ${should}`;
}
