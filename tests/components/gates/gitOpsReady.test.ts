import { describe, expect, test } from "@jest/globals";
import { gitOpsReady } from "../../../components/gates/gitOpsReady.ts";
import { credentials, look, recorded, verdicts } from "./kubernetesLooks.ts";

type Look = Parameters<typeof gitOpsReady.evidence>[0];
type Flux = Pick<Look, "sources" | "kustomizations"> &
  Partial<Pick<Look, "sealedSecrets" | "helmReleases" | "helmRepositories" | "ociRepositories" | "buckets">>;
const recordings = () =>
  recorded<Record<"healthy" | "childCannotBeBuilt" | "rootCannotBeBuilt" | "noBranch" | "suspended", Flux>>("flux");
/** Long after the source was last fetched. */
const late = 60;
const seen = (flux: Flux, watched = late): Look => look({ ...nothing, ...flux, watched });
const nothing = {
  ...{ daemonSets: [], deployments: [], pods: [], events: [], sealedSecrets: [] },
  ...{ helmReleases: [], helmRepositories: [], ociRepositories: [], buckets: [] },
};
const inputs = {
  ...{ credentials, namespace: "flux-system", controllers: [], source: "flux-system", root: "flux-system" },
  ...{ url: "http://192.0.2.30/sample.git", branch: "main", path: "./clusters/lab" },
};
type Own = { controllers?: string[]; revision?: string; url?: string; branch?: string; path?: string };
const judge = (one: Look, own: Own = {}) => verdicts(gitOpsReady.conditions({ ...inputs, ...own }), one);
const revision = () => recordings().healthy.sources[0]?.status?.artifact?.revision ?? "";

describe("S3.2 the gate GitOpsReady", () => {
  test("opens when the root Kustomization has applied what was fetched, with the revisions as evidence", () => {
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

  test("waits for the configured commit, and opens with it", () => {
    const commit = revision().split(":")[1] ?? "";
    const pinned = (to: string) => {
      const { sources, kustomizations } = recordings().healthy;
      const spec = (one: (typeof sources)[number]) => ({ ...one.spec, ref: { branch: "main", commit: to } });
      return judge(seen({ sources: sources.map((one) => ({ ...one, spec: spec(one) })), kustomizations }), {
        revision: to,
      });
    };
    expect(pinned(commit)).toEqual([]);
    const other = commit.replaceAll(/./g, "0");
    expect(pinned(other)).toEqual([
      { kind: "pending", where: "GitRepository flux-system", reason: `has ${revision()}` },
    ]);
  });

  test.each<[string, Own, string]>([
    [
      "GitRepository",
      { url: "https://git.example.org/home.git" },
      'spec.url is "http://192.0.2.30/sample.git", not "https://git.example.org/home.git"',
    ],
    ["GitRepository", { branch: "stable" }, 'spec.ref is {"branch":"main"}, not {"branch":"stable"}'],
    ["GitRepository", { revision: "0123" }, 'spec.ref is {"branch":"main"}, not {"branch":"main","commit":"0123"}'],
    ["Kustomization", { path: "./clusters/home" }, 'spec.path is "./clusters/lab", not "./clusters/home"'],
  ])("U3 fails if the %s differs from the environment's source: %j", (kind, own, reason) => {
    const [first, ...rest] = judge(seen(recordings().healthy), own);
    const remedy = expect.stringContaining("--refresh");
    expect(first).toEqual({ kind: "failed", where: `${kind} flux-system`, reason, code: "SLU-K115", remedy });
    expect(rest.filter(({ kind: one }) => one === "failed")).toEqual([]);
  });

  test("compares a folder in any notation, and shows no password of a URL", () => {
    const { healthy } = recordings();
    for (const path of ["clusters/lab", "./clusters/lab/"]) expect(judge(seen(healthy), { path })).toEqual([]);
    const url = "https://me:geheim@git.example.org/home.git";
    const sources = healthy.sources.map((one) => ({ ...one, spec: { ...one.spec, url } }));
    const said = JSON.stringify(judge(seen({ ...healthy, sources })));
    expect(said).toContain("https://***@git.example.org/home.git");
    expect(said).not.toContain("geheim");
  });

  test("waits if what was fetched is newer than what was applied", () => {
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

  describe("U3 with a Kustomization that Flux is currently applying", () => {
    const atWork = (name: string, attempted: string) =>
      judge(
        seen({
          ...recordings().healthy,
          kustomizations: recordings().healthy.kustomizations.map((one) => {
            if (one.metadata.name !== name) return one;
            const words = { status: "Unknown" as const, reason: "Progressing", message: "Reconciliation in progress" };
            const conditions = one.status?.conditions?.map((own) =>
              own.type === "Ready" ? { ...own, ...words } : own,
            );
            return {
              ...one,
              status: { ...one.status, lastAttemptedRevision: attempted, conditions: conditions ?? [] },
            };
          }),
        }),
      );
    const pending = { kind: "pending", reason: "Progressing: Reconciliation in progress" };

    test("is unknown if the same revision is applied again, as at each interval", () => {
      const where = "Kustomization flux-system";
      expect(atWork("flux-system", revision())).toEqual([{ ...pending, where, unseen: true }]);
    });

    test("is closed if another revision is applied", () => {
      expect(atWork("flux-system", "main@sha1:new")).toEqual([{ ...pending, where: "Kustomization flux-system" }]);
    });
  });

  test.each([
    ["GitRepository flux-system", "source git", "sources"],
    ["Kustomization flux-system", "kustomization", "kustomizations"],
  ] as const)("U3 reports at once that %s is suspended, with the command that resumes it", (where, command, kind) => {
    const { healthy } = recordings();
    const suspended = healthy[kind].map((one) =>
      one.metadata.name === "flux-system" ? { ...one, spec: { ...one.spec, suspend: true } } : one,
    );
    expect(judge(seen({ ...healthy, [kind]: suspended }))).toMatchObject([
      {
        kind: "failed",
        where,
        reason: "is suspended: changes in git are not applied",
        code: "SLU-K115",
        remedy: expect.stringContaining(`flux resume ${command} flux-system`),
      },
    ]);
  });

  describe("U3 with a suspended part", () => {
    const labels = {
      "kustomize.toolkit.fluxcd.io/name": "apps",
      "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    };
    const paused = (name: string, namespace: string, own: object = {}) => ({
      metadata: { name, namespace, labels, ...own },
      spec: { suspend: true, interval: "10m", url: "https://charts.example.org" },
    });
    const written = (manager: string) => [
      { manager: "kustomize-controller", fieldsV1: { "f:spec": { "f:path": {} } } },
      { manager, fieldsV1: { "f:spec": { "f:suspend": {} } } },
    ];
    const suspendApps = (managedFields: ReturnType<typeof written>) =>
      recordings().healthy.kustomizations.map((one) =>
        one.metadata.name === "apps"
          ? { ...one, metadata: { ...one.metadata, managedFields }, spec: { ...one.spec, suspend: true } }
          : one,
      );
    const said = (own: Partial<Flux>) =>
      judge(seen({ ...recordings().healthy, ...own })).map((one) =>
        one.kind === "failed" ? `${one.where}: ${/`(flux.*?)`/.exec(one.remedy ?? "")?.[1]}` : one,
      );

    test("reports what the flux command suspended, and not what git suspends, by the field manager", () => {
      const { suspended } = recordings();
      const paused = suspended.kustomizations.filter(({ spec }) => spec.suspend).map(({ metadata }) => metadata.name);
      expect(paused).toEqual(["apps", "secrets"]);
      expect(said(suspended)).toEqual(["Kustomization apps: flux resume kustomization apps"]);
    });

    test("reports it if the root has applied it", () => {
      expect(said({ kustomizations: suspendApps(written("flux")) })).toEqual([
        "Kustomization apps: flux resume kustomization apps",
      ]);
    });

    test("ignores it if git suspends it", () => {
      expect(said({ kustomizations: suspendApps(written("kustomize-controller")) })).toEqual([]);
    });

    test.each([
      ["helmReleases", "HelmRelease web/it: flux resume helmrelease it -n web"],
      ["sources", "GitRepository web/it: flux resume source git it -n web"],
      ["helmRepositories", "HelmRepository web/it: flux resume source helm it -n web"],
      ["ociRepositories", "OCIRepository web/it: flux resume source oci it -n web"],
      ["buckets", "Bucket web/it: flux resume source bucket it -n web"],
    ] as const)("reports what a Kustomization below the root has applied: %s", (list, words) => {
      const own = { [list]: [...(list === "sources" ? recordings().healthy.sources : []), paused("it", "web")] };
      expect(said(own)).toEqual([words]);
    });

    test("ignores what did not come from this repository", () => {
      const { "kustomize.toolkit.fluxcd.io/name": _, ...others } = { ...labels, app: "it" };
      const foreign = { ...labels, "kustomize.toolkit.fluxcd.io/namespace": "tenant" };
      const helmReleases = [paused("it", "web", { labels: others }), paused("that", "web", { labels: foreign })];
      expect(said({ helmReleases })).toEqual([]);
    });
  });

  test("reports in Flux' words why the repository cannot be fetched, and not the last commit's failures", () => {
    expect(judge(seen(recordings().noBranch), { branch: "nowhere" })).toMatchObject([
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
  ] as const)("fails on a manifest that cannot be built, with Flux' own message: %s", (what, name) => {
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
  ])("distinguishes failures that need another commit from transient ones: %s at %s: %s", (kind, reason, message) => {
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

  test("reports of the root only its own failures", () => {
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

  describe("with a SealedSecret of the repository that cannot be decrypted", () => {
    const sealed = (message: string, observedGeneration = 1, name = "kustomize.toolkit.fluxcd.io/name") => ({
      metadata: { name: "greeting", namespace: "hello", generation: 1, labels: { [name]: "secrets" } },
      status: { observedGeneration, conditions: [{ type: "Synced", status: "False", message }] },
    });
    const held = (sealedSecret: ReturnType<typeof sealed>, watched = late) =>
      judge(seen({ ...recordings().healthy, sealedSecrets: [sealedSecret] }, watched));
    const said = { where: "SealedSecret hello/greeting", reason: "no key could decrypt secret", code: "SLU-K118" };

    test("fails in its controller's words, with its name", () => {
      expect(held(sealed("no key could decrypt secret"))).toEqual([{ kind: "failed", ...said }]);
    });

    test("waits for as long as a commit that fixes it may take to be fetched", () => {
      expect(held(sealed("no key could decrypt secret"), 1)).toEqual([{ kind: "pending", ...said }]);
    });

    test("ignores an error of an earlier one, or of one that is not from the repository", () => {
      expect(held(sealed("no key could decrypt secret", 0))).toEqual([]);
      expect(held(sealed("no key could decrypt secret", 1, "other"))).toEqual([]);
    });
  });

  test("waits for as long as a commit that fixes it may take to be fetched", () => {
    const kinds = (watched: number) => judge(seen(recordings().rootCannotBeBuilt, watched)).map(({ kind }) => kind);
    expect([kinds(10), kinds(10.1)]).toEqual([["pending"], ["failed"]]);
  });

  test("ignores failures of what the root does not wait for", () => {
    const { sources, kustomizations } = recordings().childCannotBeBuilt;
    const alone = kustomizations.map((one) => ({ ...one, spec: { ...one.spec, wait: false } }));
    expect(
      judge(seen({ sources, kustomizations: alone })).map((verdict) => verdict.kind === "pending" && verdict.where),
    ).toEqual(["Kustomization flux-system"]);
  });

  test("waits while Flux has not seen its objects yet", () => {
    const { sources, kustomizations } = recordings().healthy;
    expect(judge(seen({ sources: [], kustomizations: [] }))).toEqual([
      { kind: "pending", where: "GitRepository flux-system", reason: "does not exist" },
      { kind: "pending", where: "Kustomization flux-system", reason: "does not exist" },
    ]);
    const edited = kustomizations.map((one) => ({ ...one, metadata: { ...one.metadata, generation: 7 } }));
    expect(judge(seen({ sources, kustomizations: edited }))).toContainEqual({
      kind: "pending",
      where: "Kustomization flux-system",
      reason: "has not been reconciled by its controller yet",
    });
  });
});

test("the evidence of GitOpsReady in a few words", () => {
  const revision = `main@sha1:${"9b0b4cb8".repeat(5)}`;
  expect(gitOpsReady.words({ revisions: { apps: revision, "flux-system": revision } })).toBe(
    "apps, flux-system at main@sha1:9b0b4cb8",
  );
});
