// `npm run sdk -- --check` on a copy of what it reads: the checkout's own SDK is never touched.
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import { type Ended, run } from "../../scripts/base/run.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";

jest.setTimeout(120_000);

const copy = mkdtempSync(join(tmpdir(), "sluice-sdk-"));
const sdk = join(copy, "sdks", "talos");

beforeAll(async () => {
  await ensureTools([toolNamed("plugins")]);
  for (const path of ["package.json", "scripts", "sdks", "toolchain"]) {
    // What npm links into the SDK belongs to the checkout.
    cpSync(join(root, path), join(copy, path), { recursive: true, filter: (file) => !file.endsWith("/node_modules") });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
}, 30 * 60_000);

afterAll(() => rmSync(copy, { recursive: true }));

/** Not by scripts/run.mjs, which would install packages where the copy's links lead. */
function checkSdk(): Promise<Ended> {
  const { SLUICE_WORK: _work, PATH = "", ...env } = process.env;
  const path = [join(copy, "node_modules", ".bin"), PATH].join(delimiter);
  const options = ["--disable-warning=ExperimentalWarning", join(copy, "scripts", "tools", "sdk.ts"), "--check"];
  return run(process.execPath, options, { cwd: copy, env: { ...env, PATH: path } });
}

test("the committed SDK is what the plugin's schema generates", async () => {
  expect(await checkSdk()).toEqual({
    code: 0,
    stdout: "sluice: sdks/talos is up to date with the plugin's schema\n",
    stderr: "",
  });
});

test("files that were changed, added or removed by hand are named", async () => {
  appendFileSync(join(sdk, "machine", "secrets.js"), "// by hand\n");
  writeFileSync(join(sdk, "machine", "extra.js"), "");
  rmSync(join(sdk, "types", "output.d.ts"));
  expect(await checkSdk()).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "sluice: sdks/talos is not up to date with the plugin's schema: machine/extra.js, machine/secrets.js, types/output.d.ts. Run `npm run sdk`.\n",
  });
});
