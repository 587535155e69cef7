import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { proxmoxGet } from "../../../components/api/proxmoxApi.ts";
import { certificates } from "../kubernetes/certificates.ts";

describe("the Proxmox API", () => {
  let server: Server;
  let apiUrl: string;
  const seen: unknown[] = [];
  beforeAll(async () => {
    const { key, cert } = certificates.server;
    server = createServer({ key, cert }, ({ url, headers }, response) => {
      seen.push([url, headers.authorization]);
      if (url?.endsWith("/silent")) return;
      if (url?.endsWith("/refused")) {
        response.writeHead(403, "Permission check failed (/vms/300, VM.Audit)").end('{"data":null}');
      } else if (url?.endsWith("/html")) response.end("<html>Sign in</html>");
      else response.end(JSON.stringify({ data: { here: url } }));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    apiUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const get = (path: string, insecure = true) =>
    // Long enough for a busy machine, except where nothing answers anyway.
    proxmoxGet(
      { apiUrl: `${apiUrl}/`, insecure, token: "u@pve!t=secret", deadlineSeconds: path === "/silent" ? 0.3 : 60 },
      path,
    );

  test("S4.1 is called with the token, and returns its data", async () => {
    expect(await get("/version")).toEqual({ here: "/api2/json/version" });
    expect(seen.at(-1)).toEqual(["/api2/json/version", "PVEAPIToken=u@pve!t=secret"]);
  });

  test.each([
    ["/refused", /answers 403 Permission check failed \(\/vms\/300, VM\.Audit\)$/],
    ["/html", /answers 200 OK$/],
    ["/silent", /does not answer: nothing within 0\.3 s$/],
  ])("S1.7 has its errors reported in its own words, without the token: %s", async (path, words) => {
    const error = await get(path).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: "ApiError", message: expect.stringMatching(words) });
    expect(String(error)).not.toContain("secret");
  });

  test("S4.1 is trusted only with a known certificate, unless the environment sets insecure", async () => {
    await expect(get("/version", false)).rejects.toThrow(/does not answer: .*certificate/);
  });
});
