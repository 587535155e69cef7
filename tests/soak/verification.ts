// Asks tools that others wrote whether a cluster that was reported as up is one.
import { nodesOf, type SoakCase } from "../../scripts/tools/soak/cases.ts";
import { behind, fluxRows } from "../../scripts/tools/soak/claims.ts";
import { environment, type Platform } from "../lab/support/chainEnvironment.ts";
import type { InLab } from "../lab/support/cloud.ts";

/** What is not so, a line each. */
export async function untrueOf(
  { platform, controlPlanes, workers }: SoakCase,
  { said }: InLab,
): Promise<readonly string[]> {
  const ask = (line: string) => said(line.split(" ")[0] ?? "", line.split(" ").slice(1));
  const nodes = nodesOf(controlPlanes, workers).join(" ");
  const [first] = environment({ platform: platform as Platform }).nodes as { address: string }[];
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    "kubectl: every node is Ready": () => ask("kubectl wait nodes --all --for=condition=Ready --timeout=0"),
    "kubectl: the nodes are those of the environment": async () => {
      const found = await ask("kubectl get nodes --output jsonpath={.items[*].metadata.name}");
      if (found !== nodes) throw new Error(`found ${found}`);
    },
    "kubectl: Flux has applied the newest commit": async () => {
      const [commit = ""] = (await ask("git ls-remote http://192.0.2.30/sample.git refs/heads/main")).split("\t");
      const kinds = "gitrepositories,kustomizations";
      const { items } = JSON.parse(await ask(`kubectl --namespace flux-system get ${kinds} --output json`));
      const wrong = behind(items, `main@sha1:${commit}`);
      if (wrong.length > 0) throw new Error(wrong.join("; "));
    },
    "flux: its controllers and definitions are healthy": () => ask("flux check"),
    "flux: nothing is unready or suspended": async () => {
      const rows = fluxRows(await ask("flux get all --all-namespaces --no-header"));
      const wrong = rows.filter(({ isReady, isSuspended }) => !isReady || isSuspended);
      if (rows.length < 2 || wrong.length > 0)
        throw new Error(`${rows.length} objects: ${wrong.map(({ row }) => row).join("; ")}`);
    },
    "talosctl: the cluster is healthy": () => ask(`talosctl health --nodes ${first?.address} --wait-timeout 1m`),
  };
  const results = await Promise.all(
    Object.entries(asked).map(async ([claim, check]) => {
      const error = await check().then(
        () => undefined,
        (reason: Error) => reason,
      );
      return error === undefined ? [] : [`${claim}: ${error.message.trim().slice(-700)}`];
    }),
  );
  return results.flat();
}
