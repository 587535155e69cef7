import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";

const work = mkdtempSync(join(tmpdir(), "sluice-access-"));
const said: string[] = [];
let credentials: typeof import("../../../scripts/lab/credentials.ts");
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  credentials = await import("../../../scripts/lab/credentials.ts");
  jest.spyOn(console, "error").mockImplementation((text: string) => void said.push(text));
});
afterEach(() => {
  said.length = 0;
  rmSync(join(work, "lab"), { recursive: true, force: true });
});
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(work, { recursive: true });
});

describe("the credentials of a cluster on a lab", () => {
  test("are kept for programs inside, readable only by their owner, until they are removed", async () => {
    await credentials.keepCredentials("default", async () => ({ kubeconfig: "the kubeconfig" }));
    const file = join(work, "lab", "default.kubeconfig");
    expect(credentials.labCredentials("default")).toEqual({ KUBECONFIG: file });
    expect(readFileSync(file, "utf8")).toBe("the kubeconfig");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await credentials.dropCredentials("default");
    expect(credentials.labCredentials("default")).toEqual({});
  });

  test("S1.5 do not hide the outcome of a run if they cannot be read", async () => {
    await credentials.keepCredentials("default", () => Promise.reject(new Error("the state of dev cannot be read")));
    expect(said).toEqual([
      "sluice: programs in the lab 'default' cannot reach the cluster: the state of dev cannot be read",
    ]);
    expect(readdirSync(work)).toEqual([]);
  });
});
