// The generator with plugins that hang, which the real one never does.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { startGenerator } from "../../../scripts/render/generator.ts";
import { runs, start, until } from "../support/child.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-generator-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A program in place of the plugin, which leaves its process number in `<name>.pid`. */
function plugin(name: string, script: string): { program: string; pid: () => number } {
  const [program, note] = [join(folder, name), join(folder, `${name}.pid`)];
  writeFileSync(
    program,
    `#!${process.execPath}\nrequire("fs").writeFileSync("${note}", String(process.pid));\n${script}`,
  );
  chmodSync(program, 0o755);
  return { program, pid: () => (existsSync(note) ? Number(readFileSync(note, "utf8")) : 0) };
}

const listens = `const server = require("net").createServer(() => undefined);
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

test.each([
  ["says no port", "setInterval(() => undefined, 1000);"],
  ["takes calls and answers none", listens],
])("S1.7 a plugin that %s fails the call, and is ended", async (name, script) => {
  const { program, pid } = plugin(name.replaceAll(" ", "-"), script);
  await expect(startGenerator(program, 500)).rejects.toThrow(`${program} did not answer within 0.5 s`);
  await until(() => !runs(pid()), "the end of the plugin");
});

test("S1.7 a plugin ends with the command that gets a signal", async () => {
  const { program, pid } = plugin("left-alone", listens);
  const child = start(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module-typescript",
      "--eval",
      `import { startGenerator } from ${JSON.stringify(join(root, "scripts", "render", "generator.ts"))};
       await startGenerator(${JSON.stringify(program)});`,
    ],
    { PATH: process.env.PATH },
  );
  await child.reaches(() => pid() !== 0, "the plugin");
  child.kill("SIGTERM");
  expect(await child.ended).toMatchObject({ code: 143 });
  expect(runs(pid())).toBe(false);
});
