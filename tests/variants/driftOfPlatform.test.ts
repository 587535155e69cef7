// Drift in the cluster and of its credentials: caused by hand, found and named by a refresh, and fixed or refused by the next `up`.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { Chain } from "../lab/support/chain.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { type DriftName, findDrift, noDrift, refused } from "../lab/support/drifts.ts";
import { commit } from "../lab/support/git.ts";

jest.setTimeout(300_000);

const named = (...names: readonly [DriftName, ...DriftName[]]) => `U3 ${names.join(", ")}`;
const sealingKeys = ["--namespace", "kube-system", "--selector", "sealedsecrets.bitnami.com/sealed-secrets-key"];
const sealingPods = ["--namespace", "kube-system", "--selector", "app.kubernetes.io/name=sealed-secrets"];

const flux = environment({}).flux as Readonly<Record<string, unknown>>;

describe("a platform that drifts", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 1, workers: 1 });
    await chain.up();
  });
  afterAll(() => chain?.down());

  const sealingReady = () =>
    chain.kubectl(
      ...["--namespace", "kube-system", "wait", "deployment", "sealed-secrets-controller"],
      ...["--for=condition=Available", "--timeout=60s"],
    );
  const suspendedByGit = (to: string) =>
    chain.kubectl(
      ...["--namespace", "flux-system", "wait", "kustomization", "secrets"],
      ...[`--for=jsonpath={.spec.suspend}=${to}`, "--timeout=60s"],
    );
  const rootKustomization = ["--namespace", "flux-system", "patch", "kustomization", "flux-system", "--type", "merge"];

  test(`${named("an expiring client certificate")}: one that is valid for ten days is named, and renewed`, async () => {
    await chain.talosctl("--nodes", "10.0.1.11", "config", "new", "short.yaml", "--crt-ttl", "240h");
    const [{ crt, key }] = Object.values<{ crt: string; key: string }>(
      parse(readFileSync(join(chain.lab.files, "short.yaml"), "utf8")).contexts,
    ) as [{ crt: string; key: string }];
    const ends = new Date(new X509Certificate(Buffer.from(crt, "base64")).validTo).toISOString();
    await chain.rewrite(({ type, urn, inputs = {}, outputs = {} }) => {
      if (urn.endsWith(":ClientCertificate::test-talosconfig")) inputs.ends = outputs.ends = ends;
      if (type !== "talos:machine/secrets:Secrets") return;
      const secret = outputs.clientConfiguration as { plaintext: string };
      const given = { ...JSON.parse(secret.plaintext), clientCertificate: crt, clientKey: key };
      outputs.clientConfiguration = { ...secret, plaintext: JSON.stringify(given) };
    });

    const { drifts } = await findDrift(chain);
    expect(drifts).toContain(`talosconfig: its client certificate expires on ${ends.slice(0, 10)}, in 9 days`);
    await chain.up();
    expect((await chain.outputs()).clientCertificateDaysLeft).toBeGreaterThan(360);
    expect(await chain.talosctl("version", "--short", "--nodes", "10.0.1.21")).toContain("v1.13.8");
    await noDrift(chain);
  });

  test(`${named("a missing Cilium pod", "another sealing key", "Flux is suspended")}: are refused one after another, each until it is fixed`, async () => {
    await chain.kubectl("delete", "secrets", ...sealingKeys);
    await chain.kubectl("delete", "pods", ...sealingPods);
    await sealingReady();
    await chain.kubectl(...rootKustomization, "--patch", '{"spec":{"suspend":true}}');
    const held = await chain.lab.fault({ on: "pod", name: "kube-system/cilium-*", subject: "w-1", do: "hold" });
    const agent = ["--selector", "k8s-app=cilium", "--field-selector", "spec.nodeName=w-1"];
    await chain.kubectl("--namespace", "kube-system", "delete", "pod", ...agent);

    const { drifts } = await findDrift(chain);
    expect(drifts).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^gate CiliumReady: w-1: /),
        "gate GitOpsReady: Kustomization flux-system: is suspended: changes in git are not applied",
        expect.stringMatching(/^gates? .*SealedSecretsReady.*: /),
        "secret test-sealed-secrets-key: is gone",
      ]),
    );
    chain.configure({ timeouts: { cilium: 6 } });
    await refused(chain, "CiliumReady test-cilium-ready", /SLU-K111/, /w-1: /);
    chain.configure({ timeouts: {} });
    await chain.lab.endFault(held);
    await refused(
      chain,
      "SealedSecretsReady test-sealed-secrets-ready",
      /SLU-K114/,
      /its certificate is \S+, not \S+/,
      /Delete key secrets that it made itself/,
    );
    // All but the one that `up` has put back.
    const own = (await chain.kubectl("get", "secrets", ...sealingKeys, "--output", "name"))
      .split("\n")
      .filter((name) => name !== "" && !/-[0-9a-f]{10}$/.test(name));
    await chain.kubectl("delete", "--namespace", "kube-system", ...own);
    await chain.kubectl("delete", "pods", ...sealingPods);
    await sealingReady();
    await refused(chain, "GitOpsReady test-gitops-ready", /SLU-K115/, /flux resume kustomization flux-system/);
    await chain.kubectl(...rootKustomization, "--patch", '{"spec":{"suspend":null}}');
    await chain.up();
    await noDrift(chain);
  });

  test("U3 a suspended part of Flux is refused, with the command that resumes it; what git itself suspends is no drift", async () => {
    const suspendApps = (to: string) => [
      ...["--namespace", "flux-system", "patch", "kustomization", "apps", "--type", "merge"],
      // As the flux command does. What kubectl writes under its own field manager is reverted by kustomize-controller.
      ...["--field-manager", "flux", "--patch", `{"spec":{"suspend":${to}}}`],
    ];
    await chain.kubectl(...suspendApps("true"));
    const { drifts } = await findDrift(chain);
    expect(drifts).toEqual(["gate GitOpsReady: Kustomization apps: is suspended: changes in git are not applied"]);
    await refused(chain, "GitOpsReady test-gitops-ready", /SLU-K115/, /`flux resume kustomization apps`/);
    await chain.kubectl(...suspendApps("null"));
    await chain.up();

    await commit(chain.lab, "sed -i '/^spec:/a \\  suspend: true' clusters/lab/secrets.yaml");
    await suspendedByGit("true");
    // It sees another commit applied, once.
    await chain.run("refresh");
    await noDrift(chain);
    await commit(chain.lab, "sed -i 's/suspend: true/suspend: false/' clusters/lab/secrets.yaml");
    await suspendedByGit("false");
    await chain.up("--refresh");
  });

  test(`${named("Flux follows another source")}: is named with both sources, and set back`, async () => {
    const source = ["--namespace", "flux-system", "patch", "gitrepository", "flux-system", "--type", "merge"];
    await chain.kubectl(...source, "--patch", '{"spec":{"ref":{"branch":"nowhere"}}}');
    const { drifts } = await findDrift(chain);
    expect(drifts).toContain(
      'gate GitOpsReady: GitRepository flux-system: spec.ref is {"branch":"nowhere"}, not {"branch":"main"}',
    );
    await chain.up();
    await noDrift(chain);
  });

  test("S3.2 Flux applies the commit in flux.revision, and stays there when the branch moves on", async () => {
    const asked = async () => (await chain.outputs()).gitOpsRevision as string;
    await chain.up("--refresh");
    const before = await asked();
    await commit(chain.lab, "echo '# later' >> apps/kustomization.yaml");
    chain.configure({ flux: { ...flux, revision: before.replace(/^.*:/, "") } });
    await chain.up();
    expect(await asked()).toBe(before);
    chain.configure({ flux });
    await chain.up();
    expect(await asked()).not.toBe(before);
  });

  test("S1.8 a change that the Kubernetes API did not answer fails the up, and the next up makes it", async () => {
    const silent = await chain.lab.fault({ on: "kube", name: "GET /openapi/v2", do: "drop" });
    chain.configure({ flux: { ...flux, interval: "6s" } });
    const up = await chain.run("up");
    expect(up.code).not.toBe(0);
    const unchanged = (kind: string, path: string) =>
      new RegExp(`^ *where: +${kind} flux-system/flux-system\\n *seen: +not as requested: ${path}$`, "m");
    expect(up.stdout).toContain("SLU-K201 A Kubernetes resource was not updated");
    expect(up.stdout).toMatch(unchanged("GitRepository", "spec\\.interval"));
    expect(up.stdout).toMatch(unchanged("Kustomization", "spec\\.retryInterval"));
    await chain.lab.endFault(silent);
    await chain.up();
    const interval = ["get", "gitrepository", "flux-system", "--output", "jsonpath={.spec.interval}"];
    expect(await chain.kubectl("--namespace", "flux-system", ...interval)).toBe("6s");
  });

  test(`${named("Flux is behind")}: is refused in Flux' own words`, async () => {
    await commit(chain.lab, "echo '  - absent.yaml' >> apps/kustomization.yaml");
    const failing = [
      "kustomization",
      "apps",
      "--for=jsonpath={.status.conditions[?(@.type=='Ready')].reason}=BuildFailed",
    ];
    await chain.kubectl("--namespace", "flux-system", "wait", ...failing, "--timeout=60s");
    const { drifts } = await findDrift(chain);
    expect(drifts).toContainEqual(
      expect.stringMatching(/^gate GitOpsReady: Kustomization apps: BuildFailed: .*absent\.yaml/),
    );
    await refused(
      chain,
      "GitOpsReady test-gitops-ready",
      /SLU-K115/,
      /Kustomization apps: BuildFailed: .*absent\.yaml/,
    );
    await commit(chain.lab, "sed -i '/absent/d' apps/kustomization.yaml");
    await chain.up();
  });
});
