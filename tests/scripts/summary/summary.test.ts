import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, jest, test } from "@jest/globals";
import { gateNames } from "../../../components/gates/registry.ts";
import type { Stack } from "../../../scripts/stack/stack.ts";
import { printSummary } from "../../../scripts/summary/summary.ts";
import type { Toolchain } from "../../../scripts/toolchain/toolchain.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { gatesOf } from "../../../stacks/parts/clusterParts.ts";
import { hetzner } from "../../../stacks/platforms/hetzner.ts";
import { exported } from "./runs.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-summary-"));
const pulumi = join(folder, "pulumi");
const stack: Stack = { name: "dev", environment: process.env, options: [], local: undefined, lab: undefined };
const print = () => printSummary({ toolchain: { pulumi, environment: process.env } as Toolchain, stack });
const said = { log: [] as string[], error: [] as string[] };
jest.spyOn(console, "log").mockImplementation((text: string) => void said.log.push(text));
jest.spyOn(console, "error").mockImplementation((text: string) => void said.error.push(text));

afterEach(() => {
  said.log.length = 0;
  said.error.length = 0;
});
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** A CLI that only answers `stack export` of the stack. */
function cli(script: string): void {
  writeFileSync(pulumi, `#!/bin/sh\n[ "$1 $2 $3 $4" = "stack export --stack dev" ] || exit 9\n${script}\n`, {
    mode: 0o700,
  });
}

describe("the summary of an up", () => {
  test("is printed from the environment's file and the stack's state", async () => {
    cli(`cat <<'END'\n${JSON.stringify(exported)}\nEND`);
    await print();
    const text = said.log.join("\n");
    expect(text).toMatch(/^ {2}cp-1 +control plane +10\.0\.1\.11 +198\.51\.100\.1 +1\.13\.8 +- +-$/m);
    expect(text).toMatch(/^ {2}Etcd +1 voting member, no alarm +6\.0 s$/m);
    expect(text).toMatch(/^ {2}GitOpsReady +not reached$/m);
    expect(text).not.toContain("\u001b[");
    expect(said.error).toEqual([]);
  });

  test("is not printed if the state cannot be read, but the reason is", async () => {
    cli("echo 'error: no passphrase' >&2; exit 255");
    await print();
    expect(said.log).toEqual([]);
    expect(said.error).toEqual(["sluice: could not print the summary: 'stack' ended with 255: error: no passphrase"]);
  });
});

const namesOf = (...args: Parameters<typeof gatesOf>) => gatesOf(...args).map(({ name }) => name);

describe("the gates of an environment", () => {
  const configOf = (name: string) => readClusterConfigFile(`Pulumi.${name}.yaml`).config;

  test("are all of them, or those whose parts it has", () => {
    const dev = configOf("dev");
    const shared = {
      ...dev,
      network: { ...dev.network, vip: "10.0.1.20" },
      backup: { ...dev.backup, folder: "/srv/backups" },
    };
    expect(namesOf(shared)).toEqual(gateNames);
    expect(namesOf(dev)).toEqual(gateNames.filter((gate) => gate !== "VirtualAddress" && gate !== "BackupFresh"));
    const bare = {
      ...shared,
      backup: dev.backup,
      csi: { ...dev.csi, enabled: false },
      sealedSecrets: { ...dev.sealedSecrets, enabled: false },
      flux: { ...dev.flux, enabled: false },
    };
    expect(namesOf(bare)).toEqual(gateNames.slice(0, gateNames.indexOf("CsiReady")));
  });

  test("do not depend on the platform", () => {
    const home = configOf("home");
    expect(gatesOf(home)).toEqual(gatesOf({ ...home, platform: hetzner }));
  });
});
