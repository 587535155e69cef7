// Snapshots of Talos that a lab's cloud is given.

/** A snapshot as `sluice-lab up --snapshots` reads it. */
export interface LabSnapshot {
  readonly talos: string;
  readonly schematic: string;
  readonly customization: string;
  readonly arch: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Each once: of two with the same labels it would be chance which one is found. */
export function distinct(snapshots: readonly LabSnapshot[]): LabSnapshot[] {
  return [...new Map(snapshots.map((snapshot) => [labelText(snapshot), snapshot])).values()];
}

/** Whether a lab that was given these has it. */
export function isAmong(snapshot: LabSnapshot, given: readonly LabSnapshot[]): boolean {
  return given.some((one) => one.schematic === snapshot.schematic && labelText(one) === labelText(snapshot));
}

function labelText({ labels }: LabSnapshot): string {
  return JSON.stringify(Object.entries(labels).sort());
}
