import { describe, expect, test } from "@jest/globals";
import { SlowCalls } from "../../../scripts/proxy/slowCalls.ts";
import { SteppedClock } from "../../components/gates/steppedClock.ts";

function tracker() {
  const clock = new SteppedClock();
  const said: string[] = [];
  const slow = new SlowCalls("Hetzner", { clock, report: (text) => said.push(text) });
  return { clock, said, slow };
}

describe("S5.2 a call that takes long", () => {
  test("is reported after 5 s, again after twice as long each time, and when it is answered", async () => {
    const { clock, said, slow } = tracker();
    const call = slow.begin("POST /v1/servers");
    await clock.advance(4_999);
    expect(said).toEqual([]);
    await clock.advance(18_000);
    call.end(true);
    expect(said).toEqual([
      "Hetzner has not answered POST /v1/servers for 5 s",
      "Hetzner has not answered POST /v1/servers for 10 s",
      "Hetzner has not answered POST /v1/servers for 20 s",
      "Hetzner answered POST /v1/servers after 23 s",
    ]);
    expect(clock.pending).toBe(0);
  });

  test("is reported with how often it failed, and how the last time", async () => {
    const { clock, said, slow } = tracker();
    const call = slow.begin("GET /v1/servers/3");
    call.failed("status code 503");
    await clock.advance(5_000);
    call.failed("connect ECONNREFUSED 192.0.2.10:443");
    await clock.advance(5_000);
    expect(said).toEqual([
      "Hetzner: GET /v1/servers/3 failed once in 5 s, and is repeated: status code 503",
      "Hetzner: GET /v1/servers/3 failed 2 times in 10 s, and is repeated: connect ECONNREFUSED 192.0.2.10:443",
    ]);
    call.end(false);
    expect(said).toHaveLength(2);
  });

  test("is reported together with others, the oldest by its name, and their end once", async () => {
    const { clock, said, slow } = tracker();
    const calls = ["GET /v1/servers/1", "GET /v1/servers/2", "GET /v1/servers/3"].map((name) => slow.begin(name));
    await clock.advance(6_000);
    for (const call of calls) call.end(true);
    expect(said).toEqual([
      "Hetzner has not answered GET /v1/servers/1 for 5 s (and 2 more)",
      "Hetzner answered GET /v1/servers/3 after 6 s",
    ]);
  });

  test("is not reported where it is answered in time", async () => {
    const { clock, said, slow } = tracker();
    slow.begin("GET /v1/servers").end(true);
    await clock.advance(60_000);
    expect({ said, pending: clock.pending }).toEqual({ said: [], pending: 0 });
  });
});
