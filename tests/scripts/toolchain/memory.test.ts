import { describe, expect, test } from "@jest/globals";
import { compilerMemory } from "../../../scripts/toolchain/memory.ts";

const gib = 2 ** 30;

describe("the memory of Go's compiler", () => {
  test.each([
    ["half of the machine's is shared by as many compilers as there are cores", 8, 16 * gib, "1024MiB"],
    ["no more than any package needs", 2, 64 * gib, "2048MiB"],
  ])("is limited, without garbage collection below: %s", (_, cores, bytes, limit) => {
    expect(compilerMemory(cores, bytes)).toEqual({ GOGC: "off", GOMEMLIMIT: limit });
  });

  test("is collected as usual if the limit would be too low", () => {
    expect(compilerMemory(8, 8 * gib)).toEqual({});
  });
});
