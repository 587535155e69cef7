// The process that starts the engine and has the proxy, with a shell in the engine's place.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hetznerProxied } from "../../../components/api/hetznerApi.ts";
import { proxmoxProxied } from "../../../components/api/proxmoxApi.ts";
import type { ProxyCall } from "../../../scripts/proxy/besideEngine.ts";
import { type Child, runs, start, until } from "../support/child.ts";
import { answers, FakeApi } from "./fakeApi.ts";

const starter = join(import.meta.dirname, "..", "..", "..", "scripts", "proxy", "besideEngine.ts");
const hetzner: ProxyCall = { title: "Hetzner", proxied: hetznerProxied };
const proxmox: ProxyCall = { title: "Proxmox", proxied: proxmoxProxied };
const api = new FakeApi();
const folder = mkdtempSync(join(tmpdir(), "sluice-proxy-"));
beforeAll(() => api.start());
afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

/** Starts a shell script as it would the engine. */
const begin = (script: string, call = hetzner): Child =>
  start(process.execPath, [starter, JSON.stringify(call), "sh", "-c", script], {
    PATH: process.env.PATH,
    HCLOUD_ENDPOINT: api.url,
  });
const get = (path: string) =>
  `"${process.execPath}" --eval 'fetch(process.env.HCLOUD_ENDPOINT + "${path}").then(async (it) => console.log(await it.text()))'`;

describe("S5.2 the engine's starter", () => {
  test("gives the engine the proxy's address and its own the API's, and ends with its exit code", async () => {
    api.behave(answers(200, { servers: [] }));
    const child = begin(`echo "$HCLOUD_ENDPOINT $SLUICE_HCLOUD_ENDPOINT"; ${get("/servers")}; exit 7`);
    const { code, stdout, stderr } = await child.ended;
    expect({ code, stderr }).toEqual({ code: 7, stderr: "" });
    const [addresses = "", body] = stdout.split("\n");
    expect(addresses).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1 /);
    expect(addresses.split(" ")[1]).toBe(api.url);
    expect(addresses.split(" ")[0]).not.toBe(api.url);
    expect(body).toBe('{"servers":[]}');
  });

  test("gives the engine a tunnel in a variable that only Proxmox' plugin reads", async () => {
    const { stdout } = await begin('echo "$SLUICE_PROXMOX_TUNNEL $HTTPS_PROXY"', proxmox).ended;
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \n$/);
  });

  test("ends at once with an engine that is killed", async () => {
    const child = begin("echo engine $$; exec sleep 60");
    process.kill(Number(await child.says(/engine (\d+)/)), "SIGKILL");
    expect(await child.ended).toMatchObject({ code: 137 });
  });

  test("passes signals on, and waits for the engine to end", async () => {
    const child = begin("trap 'echo stopped; exit 3' TERM; echo engine; while :; do sleep 0.1; done");
    await child.said("engine");
    child.kill("SIGTERM");
    expect(await child.ended).toMatchObject({ code: 3, stdout: "engine\nstopped\n" });
  });

  test("lives as long as the engine where what started it is killed", async () => {
    api.behave(answers(200, { servers: [] }));
    const file = join(folder, "killed");
    const script = `while ! [ -e "${file}" ]; do sleep 0.05; done; ${get("/servers")}`;
    const wrapper = start(
      "sh",
      [
        "-c",
        `"$0" "$@" & echo starter $!; wait`,
        process.execPath,
        starter,
        JSON.stringify(hetzner),
        "sh",
        "-c",
        script,
      ],
      { PATH: process.env.PATH, HCLOUD_ENDPOINT: api.url },
    );
    const pid = Number(await wrapper.says(/starter (\d+)/));
    wrapper.kill("SIGKILL");
    await until(() => !runs(wrapper.pid), "the end of what started it");
    writeFileSync(file, "");
    const { stdout } = await wrapper.ended;
    expect(stdout).toContain('{"servers":[]}');
    await until(() => !runs(pid), "the end of the starter");
  });
});
