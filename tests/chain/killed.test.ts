// An engine that is killed with its npm command while servers are created, and what the next command of a user makes of it.
import { copyFileSync, truncateSync } from "node:fs";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { BenchLab } from "../lab/support/benchLab.ts";
import { killedPrograms } from "../lab/support/kill.ts";
import { Workbench } from "../support/cli.ts";

jest.setTimeout(200_000);

const silent = ["--yes", "--skip-preview"];
const npmCommand = /scripts\/(run\.mjs|cli\/pulumi\.ts)/;
const bench = new Workbench({ fresh: false });
const lab = new BenchLab(bench, "default");
afterAll(async () => {
  await lab.down();
  bench.remove();
});

/** A call of the lab's Hetzner project. */
async function cloud(method: string, path: string, body?: object) {
  const json = body === undefined ? "" : `--json '${JSON.stringify(body)}'`;
  const request = `curl -s -X ${method} ${json} -H "Authorization: Bearer $HCLOUD_TOKEN" "$HCLOUD_ENDPOINT${path}"`;
  return JSON.parse(await lab.said("sh", "-c", request));
}

describe("S5.3 npm run destroy after the npm command and its engine were killed while servers were created", () => {
  test("ends what was left running, removes the lock, repairs the state, adopts the servers and deletes everything", async () => {
    await lab.start();
    // The cloud has the servers by then, and the engine waits to hear that they were created.
    const stuck = await lab.fault({ on: "cloud", name: "action create_server", do: "hold" });
    const up = bench.npm("up", "dev", ...silent);
    await lab.facts.until({ what: "call", value: "POST /v1/servers" }, 120_000);
    // The command too: it would end at once what the engine leaves running.
    for (const program of [npmCommand, killedPrograms.engine]) {
      for (const { pid } of lab.processes(program)) process.kill(pid, "SIGKILL");
    }
    expect((await up).code).not.toBe(0);
    await lab.endFault(stuck);
    expect(lab.processes(killedPrograms.hcloud)).not.toEqual([]);
    copyFileSync(bench.stateFile("dev"), `${bench.stateFile("dev")}.bak`);
    truncateSync(bench.stateFile("dev"), 0);

    // Someone else's, in the cluster's network: the plugin would wait for it, silently.
    const [{ id: image }] = (await cloud("GET", "/images?type=snapshot")).images;
    const [{ id: network }] = (await cloud("GET", "/networks")).networks;
    const mine = { name: "mine", server_type: "cx33", location: "fsn1", image, networks: [network] };
    const { server } = await cloud("POST", "/servers", mine);

    const refused = await bench.npm("destroy", "dev", ...silent);
    expect(refused).not.toMatchObject({ code: 0 });
    expect(refused.stderr).toContain("sluice: the state of dev was cut off; restored from ");
    expect(refused.stderr).toContain("sluice: removed the lock of a killed engine, taken at ");
    expect(refused.stderr).toContain("sluice: ended what a killed engine had left running: ");
    expect(refused.stderr).toMatch(/^sluice: server dev-cp-\d \(id \d+\) was created by an earlier run .*: adopted/m);
    expect(refused.stderr).toMatch(
      /the network of dev cannot be deleted .*\n {2}server mine \(id \d+\): curl -X DELETE/,
    );
    for (const program of Object.values(killedPrograms)) expect(lab.processes(program)).toEqual([]);

    await cloud("DELETE", `/servers/${server.id}`);
    const destroyed = await bench.npm("destroy", "dev", ...silent);
    expect(destroyed).toMatchObject({ code: 0 });
    expect(destroyed.stdout).not.toContain("pending operations");
    for (const kind of ["servers", "networks", "firewalls", "placement_groups", "load_balancers"]) {
      expect((await cloud("GET", `/${kind}`))[kind]).toEqual([]);
    }
  });
});
