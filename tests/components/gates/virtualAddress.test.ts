import { afterEach, describe, expect, test } from "@jest/globals";
import type { VirtualAddressObservation } from "../../../components/gates/talos/watchVirtualAddress.ts";
import type { Answer } from "../../../components/gates/talos/whoAnswers.ts";
import { virtualAddress } from "../../../components/gates/virtualAddress.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { waitFor } from "../../../components/waiting/waitLoop.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { certificates, type ServerCertificate } from "../kubernetes/certificates.ts";
import { verdicts } from "./verdicts.ts";

const address = "10.0.0.20";
const inputs = {
  ...{ address, port: 6443, by: "talos" as const, nodes: [] },
  credentials: { talos: { ca: "", crt: "", key: "" }, kubeconfig: "" },
};

/** An observation of three control planes, each with its own address and the given ones; undefined is one that does not answer. */
function look(answer: Answer | undefined, held: readonly (readonly string[] | undefined)[] = [[], [], []]) {
  const views = held.map((more, index) => {
    const [name, own] = [`cp-${index + 1}`, `10.0.0.1${index + 1}`];
    const node = { name, role: "controlplane" as const, address: own, talosAddress: own };
    if (more === undefined) return { node, tries: 3 };
    const state = { kind: "ours" as const, version: "v1.13.8" };
    return { node, tries: 0, state, facts: ["127.0.0.1", own, ...more] };
  });
  return { address, views, ...(answer !== undefined && { answer }) } satisfies VirtualAddressObservation;
}

const said = (seen: VirtualAddressObservation, by: "talos" | "kube-vip" = "talos") =>
  verdicts(virtualAddress, { ...inputs, by }, seen);
const none = { kind: "none", why: "does not answer within 2 s" } as const;

describe("S4.4 the gate VirtualAddress", () => {
  test("opens when the address answers as ours", () => {
    const seen = look({ kind: "ours" }, [[], [address], []]);
    expect(said(seen)).toEqual([]);
    expect(virtualAddress.evidence(seen, inputs)).toEqual({ address, controlPlanes: ["cp-1", "cp-2", "cp-3"] });
  });

  test("reports nothing before the first observation", () => {
    const [condition] = virtualAddress.conditions(inputs);
    expect(condition?.evaluate(look(undefined))).toEqual([
      { kind: "pending", where: address, reason: "was not probed yet", unseen: true },
    ]);
  });

  test("waits while nothing answers, and reports that no control plane has the address", () => {
    expect(said(look(none), "kube-vip")).toEqual([
      `pending ${address}: does not answer within 2 s; no control plane has the address: kube-vip has brought it up on none of cp-1, cp-2, cp-3`,
    ]);
  });

  test("names the control plane that has the address and does not answer there", () => {
    expect(said(look({ kind: "none", why: "refuses the connection" }, [[], [], [address]]))).toEqual([
      `pending ${address}: refuses the connection; cp-3 has the address, by talos`,
    ]);
  });

  test("names the control planes of which it is unknown", () => {
    expect(said(look(none, [[], undefined, []]))).toEqual([expect.stringMatching(/\(unknown for cp-2\)$/)]);
  });

  test("S1.7 fails at once if another machine answers, with its certificate", () => {
    const why = "shows a foreign certificate: subject 'CN=nas', issuer 'CN=nas'";
    expect(said(look({ kind: "foreign", why }))).toEqual([
      `failed SLU-K107 ${address}: ${why}; no control plane has the address: talos has brought it up on none of cp-1, cp-2, cp-3`,
    ]);
  });

  test.each([
    ["for another address, for which waiting does not help", true, /^failed SLU-K102 /],
    ["for another time", false, /^pending /],
  ])("reports of this cluster's certificate that it is %s", (_, isName, expected) => {
    expect(said(look({ kind: "invalid", why: "the code", isName }, [[address], [], []]))).toEqual([
      expect.stringMatching(expected),
    ]);
  });

  test("waits while two control planes have the address", () => {
    expect(said(look({ kind: "ours" }, [[address], [], [address]]))).toEqual([
      `pending ${address}: cp-1 and cp-3 hold it`,
    ]);
  });
});

describe("S4.4 the gate VirtualAddress with a real server", () => {
  let api: ApiServer;
  afterEach(() => api.stop());

  async function waitAt(certificate: ServerCertificate = certificates.server) {
    api = new ApiServer(certificate);
    await api.start();
    const kubeconfig = api.kubeconfig();
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1]);
    const real = { ...inputs, address: "127.0.0.1", port, credentials: { ...inputs.credentials, kubeconfig } };
    return waitFor({
      conditions: virtualAddress.conditions(real),
      settings: { deadlineSeconds: 20, stableSeconds: 0 },
      clock: systemClock,
      observe: (signal) => virtualAddress.observe(real, signal, systemClock),
    });
  }

  test("opens for a certificate of the authority in the kubeconfig, without a request", async () => {
    expect((await waitAt()).kind).toBe("opened");
    expect(api.asked).toEqual([]);
  });

  test("fails for a foreign certificate", async () => {
    expect(await waitAt(certificates.stranger)).toMatchObject({
      kind: "failed",
      unmet: [{ verdict: { code: "SLU-K107", where: "127.0.0.1" } }],
    });
  });
});

test("the evidence of VirtualAddress in a few words", () => {
  expect(virtualAddress.words({ address: "10.0.0.20", controlPlanes: ["cp-1", "cp-2"] })).toBe(
    "10.0.0.20 is up, shared by cp-1, cp-2",
  );
});
