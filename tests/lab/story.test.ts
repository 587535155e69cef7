// What docs/lab.md has a new user type: every line of its story, in order, in one shell.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import { Workbench } from "../support/cli.ts";
import { blockCommands } from "../support/docs.ts";

jest.setTimeout(600_000);

/** The shell blocks of the document. */
function story(): string {
  const text = readFileSync(join(root, "docs", "lab.md"), "utf8");
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join("\n");
}

describe("the story of docs/lab.md", () => {
  const bench = new Workbench({ fresh: true });
  const lab = (...args: readonly string[]) => bench.npm("lab", ...args);
  beforeAll(async () => {
    expect(await lab("up")).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    const { code } = await lab("down");
    bench.remove();
    expect(code).toBe(0);
  });

  test("leads from a server to Flux, which applies commits, and a SealedSecret that is decrypted", async () => {
    const shell = ["exec", "bash", "-e", "-u", "-x", "-o", "pipefail"];
    const ended = await bench.npmWith({ input: story(), timeout: 300_000 }, "lab", ...shell);
    // The last lines show where it stopped.
    const last = ended.code === 0 ? "" : ended.stderr.slice(-2_000);
    expect({ code: ended.code, last }).toEqual({ code: 0, last: "" });
    expect(ended.stdout).toMatch(/^cp-1 +Ready +control-plane /m);
    expect(ended.stdout).toContain("kustomization.kustomize.toolkit.fluxcd.io/apps condition met");
    expect(ended.stdout).toContain("hello from a sealed secret");
    expect(ended.stdout).toMatch(/deployment\.apps\/hello condition met\n$/);
  });

  test("is followed by faults that the lab all accepts", async () => {
    const added = blockCommands("docs/lab.md").filter((line) => line.startsWith("npm run lab -- fault add "));
    expect(added.length).toBeGreaterThan(10);
    for (const line of added) {
      const { code, stdout, stderr } = await bench.typed(line);
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: "" });
      const [id = ""] = stdout.trim().split("\n").slice(-1);
      expect(await lab("fault", "remove", id)).toMatchObject({ code: 0 });
    }
  });

  test("is typed into a shell that has the cloud's credentials", async () => {
    const said = await bench.npmWith(
      { input: 'echo "$HCLOUD_ENDPOINT $(basename "$SLUICE_CHARTS")"\n' },
      "lab",
      "shell",
    );
    expect(said.stdout).toMatch(/http:\/\/192\.0\.2\.10\/v1 [0-9a-f]{16}/);
  });
});
