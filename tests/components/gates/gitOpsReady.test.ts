import { describe, expect, test } from "@jest/globals";
import { gitOpsReady } from "../../../components/gates/gitOpsReady.ts";
import { credentials, look, recorded, verdicts } from "./kubernetesLooks.ts";

type Look = Parameters<typeof gitOpsReady.evidence>[0];
type Flux = Pick<Look, "sources" | "kustomizations">;
const recordings = () =>
  recorded<Record<"healthy" | "childCannotBeBuilt" | "rootCannotBeBuilt" | "noBranch", Flux>>("flux");
/** Long after the source was last fetched. */
const late = 60;
const seen = (flux: Flux, watched = late): Look =>
  look({ daemonSets: [], deployments: [], pods: [], events: [], ...flux, watched }) as Look;
const judge = (one: Look, own: { controllers?: string[]; revision?: string } = {}) =>
  verdicts(
    gitOpsReady.conditions({
      credentials,
      namespace: "flux-system",
      controllers: [],
      source: "flux-system",
      root: "flux-system",
      ...own,
    }),
    one,
  );
const revision = () => recordings().healthy.sources[0]?.status?.artifact?.revision ?? "";

describe("S3.2 the gate GitOpsReady", () => {
  test("opens where the root Kustomization has applied what was fetched, and keeps the revisions", () => {
    const { healthy } = recordings();
    expect(judge(seen(healthy))).toEqual([]);
    expect(gitOpsReady.evidence(seen(healthy))).toEqual({
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
