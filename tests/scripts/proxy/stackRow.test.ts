import { expect, test } from "@jest/globals";
import type { RunningProcess } from "../../../scripts/base/processList.ts";
import { engineAddress, StackRow } from "../../../scripts/proxy/stackRow.ts";
import { Engine } from "../../components/gates/engine.ts";
import { start, until } from "../support/child.ts";

const one = (pid: number, parent: number, name: string): RunningProcess => {
  return { pid, parent, name, start: pid, innerPid: pid, value: undefined };
};
const commands: Readonly<Record<number, readonly string[]>> = {
  5: ["/home/me/pulumi-resource-hcloud", "127.0.0.1:40001", ""],
  15: ["/home/me/pulumi-resource-hcloud", "127.0.0.1:50001", ""],
};
const addressBelow = (starter: number, ...processes: readonly RunningProcess[]) =>
  engineAddress(processes, starter, (pid) => commands[pid] ?? []);

test("S5.2 the engine's address is the one that its plugins were started with", () => {
  const [engine, plugin] = [one(4, 3, "pulumi"), one(5, 4, "pulumi-resource")];
  expect(addressBelow(3, engine, plugin)).toBe("127.0.0.1:40001");
  expect(addressBelow(3, one(14, 13, "pulumi"), one(15, 14, "pulumi-resource"), engine, plugin)).toBe(
    "127.0.0.1:40001",
  );
});

test("S5.2 the engine's address is not known before a plugin of it runs", () => {
  expect(addressBelow(3, one(4, 3, "pulumi"))).toBeUndefined();
  expect(addressBelow(3, one(14, 13, "pulumi"), one(15, 14, "pulumi-resource"))).toBeUndefined();
});

test("S5.2 what waits is shown in the engine's row of the stack, once a plugin runs", async () => {
  const engine = new Engine();
  await engine.start();
  const address = process.argv[2] ?? "";
  const row = new StackRow();
  row.show("before any plugin");
  const child = start("sh", ["-c", `sh -c 'echo plugin; while :; do sleep 1; done' plugin ${address}; true`], {
    PATH: process.env.PATH,
  });
  await child.said("plugin");
  row.show("Hetzner has not answered POST /v1/servers for 5 s");
  await until(() => engine.told.length > 0, "the text");
  await row.close();
  child.killGroup("SIGKILL");
  await child.ended;
  engine.stop();
  expect(engine.told).toEqual([": Hetzner has not answered POST /v1/servers for 5 s"]);
});
