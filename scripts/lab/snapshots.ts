// Snapshots of Talos in a lab's cloud.

import type { LabSnapshot } from "../../stacks/platforms/labNeeds.ts";

/** Without duplicates: of two with the same labels, a random one would be found. */
export function distinct(snapshots: readonly LabSnapshot[]): LabSnapshot[] {
  return [...new Map(snapshots.map((snapshot) => [labelText(snapshot), snapshot])).values()];
}

/** Whether the list contains it. */
export function isAmong(snapshot: LabSnapshot, given: readonly LabSnapshot[]): boolean {
  return given.some((one) => one.schematic === snapshot.schematic && labelText(one) === labelText(snapshot));
}

function labelText({ labels }: LabSnapshot): string {
  return JSON.stringify(Object.entries(labels).sort());
}
