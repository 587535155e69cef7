import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Tool } from "../../../scripts/toolchain/tool.ts";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

let checkout: Checkout;
let space: typeof import("../../../scripts/toolchain/space.ts");
let tools: readonly Tool[];
beforeAll(async () => {
  checkout = makeCheckout();
  Object.assign(process.env, checkout.env);
  space = await import("../../../scripts/toolchain/space.ts");
  ({ tools } = await import("../../../scripts/toolchain/tools.ts"));
});
beforeEach(() => checkout.reset());
afterAll(() => checkout.remove());

const tool = (name: string, gigabytes: number): Tool => ({
  name,
  purpose: "",
  module: "",
  package: "",
  versionOf: "",
  commands: [name],
  seconds: 1,
  gigabytes,
});

describe("the space that building needs", () => {
  const [a, b, c] = [tool("a", 5), tool("b", 3), tool("c", 2)];

  test.each<[string, readonly Tool[], readonly Tool[], number, number]>([
    ["with empty caches, what the missing tools take together", [a, b], [], 0, 8],
    ["after an interruption, what is not there yet", [a, b], [], 6, 2],
    ["with caches that other tools filled, all that the missing ones take", [a], [b, c], 5, 5],
    ["for a tool that was built before, room for its program", [a], [a, b], 8, 1],
    ["never less than that", [c], [], 2, 1],
  ])("is %s", (_, missing, before, held, needed) => {
    expect(space.spaceNeeded(missing, before, held)).toBe(needed);
  });
});

describe("a disk that is too small", () => {
  const missing = () => tools.filter(({ name }) => name === "pulumi" || name === "command");
  const needed = () => missing().reduce((sum, { gigabytes }) => sum + gigabytes, 0);

  test("is refused before anything is built, with how much is needed and where", async () => {
    await expect(space.checkSpace(missing(), async () => 1.26)).rejects.toThrow(
      `building pulumi, command takes up to ${needed()} GiB below ${checkout.cache}, but 1.3 GiB are free there. ` +
        "Make room, or set SLUICE_CACHE to a folder on a larger disk. " +
        "Afterwards `npm run toolchain -- --prune` leaves the programs only.",
    );
  });

  test("is one that is only slightly too small", async () => {
    await expect(space.checkSpace(missing(), async () => needed())).resolves.toBeUndefined();
    await expect(space.checkSpace(missing(), async () => needed() - 0.01)).rejects.toThrow("GiB are free there");
  });

  test("is large enough if go's caches already contain everything, even if they fill it", async () => {
    for (const built of missing()) await space.noteCompiled(built);
    // A stand-alone file of that size: only its size on disk is measured.
    const cached = join(checkout.cache, "go", "build");
    mkdirSync(cached, { recursive: true });
    writeFileSync(join(cached, "package"), Buffer.alloc(2 ** 20, 1));
    await expect(space.checkSpace(missing(), async () => needed() - 0.0005)).resolves.toBeUndefined();
    await expect(space.checkSpace(missing(), async () => needed() - 0.002)).rejects.toThrow("GiB are free there");
  });
});
