// What machined's log of the current boot says of installers, since Talos 1.13: `internal/app/lifecycle/lifecycle.go`.

export type Installation =
  | { readonly kind: "none" }
  /** One has started, and has not ended by what the log says. */
  | { readonly kind: "started"; readonly image: string }
  | { readonly kind: "installed"; readonly image: string }
  | { readonly kind: "failed"; readonly image: string; readonly exitCode: number };

const started = /starting upgrade: installer_image=([^\s,]+)/;
const ended = /upgrade (?:completed successfully|failed): exit_code=(-?\d+)/;

/** The last installation that the log shows. */
export function lastInstallation(log: readonly string[]): Installation {
  const at = log.findLastIndex((line) => started.test(line));
  const image = started.exec(log[at] ?? "")?.[1];
  if (image === undefined) return { kind: "none" };
  const end = log.slice(at + 1).find((line) => ended.test(line));
  if (end === undefined) return { kind: "started", image };
  const exitCode = Number(ended.exec(end)?.[1]);
  return exitCode === 0 ? { kind: "installed", image } : { kind: "failed", image, exitCode };
}

/** Lines that may say why a boot or an installation failed; Talos' own prefix is removed. */
export function failureLines(log: readonly string[]): readonly string[] {
  const said = log.map((line) => line.replace(/^.*?\[talos\] /, "").trim());
  return said.filter((line) => /\b(fail(ed|ure)?|fatal|error|panic|revert(ing)?|rebooting)\b/i.test(line));
}
