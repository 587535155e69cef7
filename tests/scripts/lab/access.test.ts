import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";

const work = mkdtempSync(join(tmpdir(), "sluice-access-"));
const said: string[] = [];
let access: typeof import("../../../scripts/lab/access.ts");
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  access = await import("../../../scripts/lab/access.ts");
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

describe("what opens a cluster on a lab", () => {
  test("is kept for programs inside, for its owner's eyes, until it is dropped", async () => {
    await access.keepAccess("default", async () => ({ kubeconfig: "the kubeconfig" }));
    const file = join(work, "lab", "default.kubeconfig");
    expect(access.labAccess("default")).toEqual({ KUBECONFIG: file });
    expect(readFileSync(file, "utf8")).toBe("the kubeconfig");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await access.dropAccess("default");
    expect(access.labAccess("default")).toEqual({});
  });

  test("S1.5 does not hide how a run ended where it cannot be read", async () => {
    await access.keepAccess("default", () => Promise.reject(new Error("the state of dev cannot be read")));
    expect(said).toEqual([
      "sluice: programs in the lab 'default' do not find the cluster: the state of dev cannot be read",
    ]);
    expect(readdirSync(work)).toEqual([]);
  });
});
