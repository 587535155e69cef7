// Every command in a block of the documents is typed by a test, or has a reason why none can type it.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { blockCommands } from "../../support/docs.ts";

/** The test that types it: the file, and the text in it that does. */
interface Typed {
  readonly command: RegExp;
  readonly by: string;
  readonly as: string;
}

const typed: readonly Typed[] = [
  { command: /^npm start$/, by: "tests/chain/start.test.ts", as: '"start"' },
  { command: /^npm test$/, by: ".ci/run", as: "npm test" },
  { command: /^npm run (refresh|up) -- dev$/, by: "tests/chain/start.test.ts", as: "bench.typed(line" },
  { command: /^npm run lab -- fault (add|remove) /, by: "tests/lab/story.test.ts", as: 'blockCommands("docs/lab.md")' },
  { command: /^npm run lab -- up$/, by: "tests/lab/story.test.ts", as: 'lab("up")' },
  { command: /^npm run lab -- shell$/, by: "tests/lab/story.test.ts", as: '"shell"' },
  { command: /^npm run lab -- --name home /, by: "tests/variants/home.test.ts", as: '"--name", "home"' },
  { command: /^npm run lab -- machine replace /, by: "tests/chain/existing.test.ts", as: '"machine", "replace"' },
  { command: /^npm run lab -- machine (add|off|on) /, by: "lab/cli/fault_test.go", as: '"machine", "add", "--file"' },
  { command: /^npm run up -- (home|mine) --lab$/, by: "tests/variants/home.test.ts", as: '"up", "home", "--lab"' },
  {
    command: /^npm run (preview|render|preflight|status|drift|refresh|up|kubeconfig|talosconfig) -- (home|mine)$/,
    by: "tests/variants/home.test.ts",
    as: 'inlineCommands("docs/operations.md", "npm run")',
  },
  { command: /^npm run up -- home --new-cluster$/, by: "tests/chain/lostCluster.test.ts", as: 'up("--new-cluster")' },
  { command: /^npm run destroy -- (home|mine)$/, by: "tests/variants/home.test.ts", as: '"destroy", "home"' },
  { command: /^npm run preview -- cloud$/, by: "tests/engine/offline.test.ts", as: '"preview"' },
  { command: /^npm run snapshot -- mine$/, by: "tests/engine/snapshot.test.ts", as: "npm run --silent snapshot" },
  { command: /^cp Pulumi\.home\.yaml Pulumi\.mine\.yaml$/, by: "tests/support/cli.ts", as: "settingsPath(base)" },
  {
    command: /^npm run pulumi -- config set --secret (hcloud:token|proxmoxve:apiToken) --stack mine$/,
    by: "tests/engine/snapshot.test.ts",
    as: '"config", "set", "--secret", "hcloud:token"',
  },
  {
    command: /^(openssl req|npm run pulumi -- config set --secret \S+ --stack mine <) /,
    by: "tests/engine/environment.test.ts",
    as: "blockCommands(page)",
  },
  { command: /^npm run secrets -- export mine$/, by: "tests/engine/machineSecrets.test.ts", as: '"secrets", "export"' },
  { command: /^npm run secrets -- import mine /, by: "tests/engine/machineSecrets.test.ts", as: '"secrets", "import"' },
  { command: /^npm run adopt -- mine --draft /, by: "tests/chain/adopt.test.ts", as: '"--draft", "--secrets"' },
  { command: /^npm run adopt -- mine$/, by: "tests/chain/adopt.test.ts", as: 'npm("adopt"' },
  { command: /^npm run backup -- (mine|list mine|verify mine)$/, by: "tests/chain/backup.test.ts", as: 'npm("backup"' },
  { command: /^kubeseal /, by: "tests/chain/oneServer.test.ts", as: 'blockCommands("docs/platform.md")' },
  { command: /^kubectl /, by: "tests/chain/oneServer.test.ts", as: 'blockCommands("docs/migrate.md")' },
  {
    command: /^talosctl get \w+ --insecure /,
    by: "tests/chain/existing.test.ts",
    as: 'blockCommands("docs/existing.md")',
  },
  { command: /^talosctl reset /, by: "tests/lab/talosctl.test.ts", as: '"--system-labels-to-wipe"' },
  { command: /^npm run toolchain/, by: "tests/scripts/tools/toolchain.test.ts", as: "--prune" },
];

const cannotBeTyped: readonly { readonly command: RegExp; readonly because: string }[] = [
  {
    command: /^pveum /,
    because: "it is typed on a host of Proxmox; tests/lab/proxmox.test.ts does the same through the API",
  },
  { command: /^talosctl cluster create /, because: "it needs KVM, and downloads Talos' images" },
  {
    command: /^npm run lab -- exec node scripts\/tools\/gateDelays\.ts 30$/,
    because: "it is a measurement of minutes",
  },
  { command: /^npm run soak -- /, because: "it takes an hour" },
  { command: /^npm run bench -- /, because: "its figures need an idle machine" },
  { command: /^npm run pulumi -- stack init mine --no-select$/, because: "it is for the user's own backend" },
];

const pages = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()];
const commands = pages.flatMap((page) => blockCommands(page).map((command) => ({ page, command })));

describe("the commands of the documents", () => {
  test("are found: some in most pages", () => {
    expect(new Set(commands.map(({ page }) => page)).size).toBeGreaterThan(10);
    expect(commands.length).toBeGreaterThan(60);
  });

  test.each(commands)("$page: $command", ({ command }) => {
    const known = [...typed, ...cannotBeTyped].filter((one) => one.command.test(command));
    expect(known).not.toEqual([]);
  });

  test.each(typed)("$command is typed by $by", ({ command, by, as }) => {
    expect(commands.filter((one) => command.test(one.command))).not.toEqual([]);
    expect(existsSync(join(root, by)) && readFileSync(join(root, by), "utf8")).toContain(as);
  });

  test.each(cannotBeTyped)("$command stands somewhere still", ({ command }) => {
    expect(commands.filter((one) => command.test(one.command))).not.toEqual([]);
  });
});
