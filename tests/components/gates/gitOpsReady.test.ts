import { describe, expect, test } from "@jest/globals";
import { gitOpsReady } from "../../../components/gates/gitOpsReady.ts";
import { credentials, look, recorded, verdicts } from "./kubernetesLooks.ts";

type Look = Parameters<typeof gitOpsReady.evidence>[0];
type Flux = Pick<Look, "sources" | "kustomizations"> & Partial<Pick<Look, "sealedSecrets">>;
const recordings = () =>
  recorded<Record<"healthy" | "childCannotBeBuilt" | "rootCannotBeBuilt" | "noBranch", Flux>>("flux");
/** Long after the source was last fetched. */
const late = 60;
const seen = (flux: Flux, watched = late): Look =>
  look({ daemonSets: [], deployments: [], pods: [], events: [], sealedSecrets: [], ...flux, watched });
const inputs = { credentials, namespace: "flux-system", controllers: [], source: "flux-system", root: "flux-system" };
const judge = (one: Look, own: { controllers?: string[]; revision?: string } = {}) =>
  verdicts(gitOpsReady.conditions({ ...inputs, ...own }), one);
const revision = () => recordings().healthy.sources[0]?.status?.artifact?.revision ?? "";

describe("S3.2 the gate GitOpsReady", () => {
  test("opens where the root Kustomization has applied what was fetched, and keeps the revisions", () => {
    const { healthy } = recordings();
    expect(judge(seen(healthy))).toEqual([]);
    expect(gitOpsReady.evidence(seen(healthy), inputs)).toEqual({
      revisions: { apps: revision(), "flux-system": revision(), secrets: revision() },
    });
  });

  test("waits for each of Flux' controllers", () => {
    expect(
      judge(seen(recordings().healthy), { controllers: ["source-controller", "kustomize-controller"] }),
    ).toMatchObject([{ where: "Deployment source-controller" }, { where: "Deployment kustomize-controller" }]);
  });

  test("waits for the commit that is asked for, and opens with it", () => {
    const commit = revision().split(":")[1] ?? "";
    expect(judge(seen(recordings().healthy), { revision: commit })).toEqual([]);
    expect(judge(seen(recordings().healthy), { revision: "0123abc" })).toEqual([
      { kind: "pending", where: "GitRepository flux-system", reason: `has ${revision()}` },
    ]);
  });

  test("waits where what was fetched is newer than what was applied", () => {
    const { sources, kustomizations } = recordings().healthy;
    const [source] = sources;
    const newer = {
      ...source,
      status: { ...source?.status, artifact: { revision: "main@sha1:new" } },
    } as typeof source;
    expect(judge(seen({ sources: [newer as NonNullable<typeof source>], kustomizations }))).toMatchObject([
      {
        kind: "pending",
        where: "Kustomization flux-system",
        reason: `has applied ${revision()}, and not yet main@sha1:new`,
      },
    ]);
  });

  test.each([
    ["GitRepository flux-system", "source git", "sources"],
    ["Kustomization flux-system", "kustomization", "kustomizations"],
  ] as const)("U3 says that %s is suspended, at once and with what resumes it", (where, command, kind) => {
    const { healthy } = recordings();
    const suspended = healthy[kind].map((one) => ({ ...one, spec: { ...one.spec, suspend: true } }));
    expect(judge(seen({ ...healthy, [kind]: suspended }))).toMatchObject([
      {
        kind: "failed",
        where,
        reason: "is suspended: what is in git is not applied",
        code: "SLU-K115",
        remedy: expect.stringContaining(`flux resume ${command} flux-system`),
      },
    ]);
  });

  test("says in Flux' words why the repository cannot be fetched, and does not hold the last commit's faults against it", () => {
    expect(judge(seen(recordings().noBranch))).toMatchObject([
      {
        kind: "pending",
        where: "GitRepository flux-system",
        reason: expect.stringContaining(`couldn't find remote ref "refs/heads/nowhere"`),
      },
      { kind: "pending", where: "Kustomization flux-system" },
    ]);
  });

  test.each([
    ["rootCannotBeBuilt", "flux-system"],
    ["childCannotBeBuilt", "apps"],
  ] as const)("fails at what cannot be built, with Flux' own message: %s", (what, name) => {
    const failed = judge(seen(recordings()[what])).filter(({ kind }) => kind === "failed");
    expect(failed).toEqual([
      {
        kind: "failed",
        where: `Kustomization ${name}`,
        reason: expect.stringMatching(
          /^BuildFailed: kustomize build failed: .*nowhere\.yaml: no such file or directory/,
        ),
        code: "SLU-K115",
      },
    ]);
  });

  test.each([
    [
      "failed",
      "ArtifactFailed",
      "kustomization path not found: stat /tmp/kustomization-1/clusters/x: no such file or directory",
    ],
    ["pending", "ArtifactFailed", "failed to download archive: connection refused"],
    [
      "failed",
      "ReconciliationFailed",
      'Service/a/b dry-run failed (Invalid): Service "b" is invalid: spec.ports: Required value',
    ],
    [
      "pending",
      "ReconciliationFailed",
      'Thing/a/b dry-run failed: no matches for kind "Thing" in version "example/v1"',
    ],
    [
      "pending",
      "HealthCheckFailed",
      "health check failed after 2m0s: timeout waiting for: [Deployment/a/b status: 'InProgress']",
    ],
  ])("tells what cannot pass without another commit from what can: %s at %s: %s", (kind, reason, message) => {
    const { sources, kustomizations } = recordings().rootCannotBeBuilt;
    const said = kustomizations.map((one) => ({
      ...one,
      status: {
        ...one.status,
        conditions:
          one.status?.conditions?.map((condition) => ({ ...condition, reason, message: `${message}\n` })) ?? [],
      },
    }));
    const shown = message.replace("/tmp/kustomization-1/", "");
    expect(judge(seen({ sources, kustomizations: said }))).toMatchObject([{ kind, reason: `${reason}: ${shown}` }]);
  });

  test("says of the root only that which it has to say itself", () => {
    const { sources, kustomizations } = recordings().childCannotBeBuilt;
    const where = (status: string) =>
      judge(
        seen({
          sources,
          kustomizations: kustomizations.map((one) => {
            if (one.metadata.name !== "flux-system") return one;
            const conditions = one.status?.conditions?.map((condition) => ({ ...condition, status })) ?? [];
            return { ...one, status: { ...one.status, conditions } };
          }),
        }),
      ).map((verdict) => verdict.kind !== "ok" && verdict.where);
    expect(where("Unknown")).toEqual(["Kustomization apps"]);
    expect(where("False")).toEqual(["Kustomization apps", "Kustomization flux-system"]);
  });

  describe("where a sealed secret of the repository cannot be opened", () => {
    const sealed = (message: string, observedGeneration = 1, name = "kustomize.toolkit.fluxcd.io/name") => ({
      metadata: { name: "greeting", namespace: "hello", generation: 1, labels: { [name]: "secrets" } },
      status: { observedGeneration, conditions: [{ type: "Synced", status: "False", message }] },
    });
    const held = (sealedSecret: ReturnType<typeof sealed>, watched = late) =>
      judge(seen({ ...recordings().healthy, sealedSecrets: [sealedSecret] }, watched));
    const said = { where: "SealedSecret hello/greeting", reason: "no key could decrypt secret", code: "SLU-K118" };

    test("fails in its controller's words, and names it", () => {
      expect(held(sealed("no key could decrypt secret"))).toEqual([{ kind: "failed", ...said }]);
    });

    test("waits for as long as a commit that mends it may take to be fetched", () => {
      expect(held(sealed("no key could decrypt secret"), 1)).toEqual([{ kind: "pending", ...said }]);
    });

    test("does not mind what was said of an earlier one, or of one that is not from the repository", () => {
      expect(held(sealed("no key could decrypt secret", 0))).toEqual([]);
      expect(held(sealed("no key could decrypt secret", 1, "other"))).toEqual([]);
    });
  });

  test("waits for as long as a commit that mends it may take to be fetched", () => {
    const kinds = (watched: number) => judge(seen(recordings().rootCannotBeBuilt, watched)).map(({ kind }) => kind);
    expect([kinds(10), kinds(10.1)]).toEqual([["pending"], ["failed"]]);
  });

  test("does not hold against the root what it does not wait for", () => {
    const { sources, kustomizations } = recordings().childCannotBeBuilt;
    const alone = kustomizations.map((one) => ({ ...one, spec: { wait: false } }));
    expect(
      judge(seen({ sources, kustomizations: alone })).map((verdict) => verdict.kind === "pending" && verdict.where),
    ).toEqual(["Kustomization flux-system"]);
  });

  test("waits where Flux has none of it yet, or has not looked at it", () => {
    const { sources, kustomizations } = recordings().healthy;
    expect(judge(seen({ sources: [], kustomizations: [] }))).toEqual([
      { kind: "pending", where: "GitRepository flux-system", reason: "is not there" },
      { kind: "pending", where: "Kustomization flux-system", reason: "is not there" },
    ]);
    const edited = kustomizations.map((one) => ({ ...one, metadata: { ...one.metadata, generation: 7 } }));
    expect(judge(seen({ sources, kustomizations: edited }))).toContainEqual({
      kind: "pending",
      where: "Kustomization flux-system",
      reason: "has not been looked at by its controller yet",
    });
  });
});
