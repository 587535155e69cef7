import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

let checkout: Checkout;
let go: typeof import("../../../scripts/toolchain/go.ts");
beforeAll(async () => {
  checkout = makeCheckout();
  Object.assign(process.env, checkout.env);
  go = await import("../../../scripts/toolchain/go.ts");
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
  mkdirSync(checkout.cache, { recursive: true });
});
afterAll(() => checkout.remove());

describe("a fetch", () => {
  const fetch = async (retried: { stallAfterMs: number; attempts: number; pauseMs?: number }) => {
    const retries: string[] = [];
    const onRetry = (attempt: string, why: string) => void retries.push(`${attempt}: ${why}`);
    const call = { cwd: checkout.cache, args: ["list", "./..."] };
    const ended = await go.goFetching(call, { onRetry }, { pauseMs: 1, ...retried });
    return { ended, retries, calls: checkout.calls().length };
  };

  test("that stalls is started again", async () => {
    checkout.on("go list", 'if [ ! -e "$FAKE/tried" ]; then touch "$FAKE/tried"; exec sleep 600; fi');
    const { ended, retries } = await fetch({ stallAfterMs: 700, attempts: 9 });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("example.invalid/c") });
    expect(retries[0]).toBe("attempt 2 of 9: nothing came from the module proxy for 0.7 s");
  });

  test("that stalls repeatedly fails, with the reason", async () => {
    checkout.on("go list", "exec sleep 600");
    // Long enough for each of them to have started on a busy machine.
    const { ended, calls } = await fetch({ stallAfterMs: 1_500, attempts: 2 });
    expect(ended).toMatchObject({ cut: "stall", code: 130 });
    expect(ended.stderr).toBe("nothing came from the module proxy for 1.5 s, 2 times in a row\n");
    expect(calls).toBe(2);
  });

  test("that is silent for long but keeps reading is not interrupted", async () => {
    const reading = "for i in 1 2 3 4 5 6 7 8 9; do head -c 200000 /dev/zero >/dev/null; sleep 0.1; done";
    checkout.on("go list", reading);
    const { retries } = await fetch({ stallAfterMs: 700, attempts: 9 });
    expect(retries).toEqual([]);
  });

  test.each([
    "reading https://proxy.example/x/@v/v1.zip: 502 Bad Gateway",
    "Get x: net/http: TLS handshake timeout",
    "read tcp 10.0.0.1:1->10.0.0.2:443: read: connection reset by peer",
    "unexpected EOF",
  ])("that fails transiently is repeated: %s", async (fault) => {
    checkout.on("go list", `if [ ! -e "$FAKE/tried" ]; then touch "$FAKE/tried"; echo '${fault}' >&2; exit 1; fi`);
    const { ended, retries } = await fetch({ stallAfterMs: 60_000, attempts: 3 });
    expect(ended.code).toBe(0);
    expect(retries).toEqual([`attempt 2 of 3: ${fault}`]);
  });

  test.each([
    "verifying x@v1: checksum mismatch",
    "reading https://proxy.example/x/@v/v1.zip: 404 Not Found",
    "dial tcp: lookup proxy.example: no such host",
  ])("that fails permanently is not: %s", async (fault) => {
    checkout.on("go list", `echo '${fault}' >&2; exit 1`);
    const { ended, calls } = await fetch({ stallAfterMs: 60_000, attempts: 3 });
    expect(ended).toMatchObject({ code: 1, stderr: `${fault}\n`, cut: undefined });
    expect(calls).toBe(1);
  });
});

describe("the line that repeats a call", () => {
  test("runs go in the same folder with the same settings and arguments, whatever is in them", () => {
    const folder = join(checkout.cache, "a 'b' $c `d`");
    mkdirSync(folder);
    const program = join(checkout.env.PATH ?? "", "go");
    execFileSync("rm", [program]);
    writeFileSync(program, '#!/bin/sh\nprintf \'%s\\0\' "$PWD" "$GOMODCACHE" "$GOTMPDIR" "$@"\n', { mode: 0o755 });
    // What an argument can contain: anything except NUL, and what has no form in UTF-8.
    const word = fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", "").toWellFormed());
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (args) => {
        const said = execFileSync("sh", ["-c", go.shellLine({ cwd: folder, temporary: folder, args })], {
          env: checkout.env,
        });
        expect(said.toString().split("\0").slice(0, -1)).toEqual([
          folder,
          join(checkout.cache, "go", "mod"),
          folder,
          ...args,
        ]);
      }),
      { numRuns: 40 },
    );
  });

  test("quotes nothing that needs no quotes", () => {
    const line = go.shellLine({ cwd: "/tmp/x", args: ["build", "-o", "/tmp/a.out", "./..."] });
    expect(line).toMatch(/^cd \/tmp\/x && .* go build -o \/tmp\/a\.out \.\/\.\.\.$/);
  });
});
