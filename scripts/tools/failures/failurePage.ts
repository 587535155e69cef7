import { type CatalogueEntry, catalogue } from "../../../components/errors/catalogue.ts";

const introduction = `# Failure codes

Every failure that has a code, with its cause and what to do. The message itself has more: under \`where\` and \`seen\` the node or object, what was
observed, and for how long. Failures without a code, such as errors in the configuration or the toolchain, are in [failures](failures.md).

\`talosctl\` needs the environment's talosconfig and \`kubectl\` its kubeconfig: \`npm run talosconfig -- <environment>\` and
\`npm run kubeconfig -- <environment>\` write them and print the variable to set. \`<address>\` is the address of the node that the message names.

This page is generated from \`components/errors/catalogue.ts\` by \`npm run failures\`.
`;

/** The chapters, by the prefix of their codes. */
const chapters: Readonly<Record<string, string>> = {
  M1: "Machines",
  T1: "Reaching a node",
  T2: "Configuring a node, and bootstrap",
  T3: "Gates on Talos",
  T4: "Upgrades of Talos",
  L1: "Nodes that join or leave",
  K1: "Gates on Kubernetes",
  K2: "Platform",
  K3: "Upgrades of Kubernetes",
  B1: "Backup and restore",
  A1: "Adoption",
};

/** docs/failure-codes.md, generated from the catalogue. */
export function failurePage(): string {
  const entries: readonly (readonly [code: string, entry: CatalogueEntry])[] = Object.entries(catalogue);
  const parts = Object.entries(chapters).map(([prefix, title]) => {
    const rows = entries
      .filter(([code]) => code.startsWith(`SLU-${prefix}`))
      .map(([code, { title: what, cause, remedy }]) => `| ${code} | ${what} | ${cause} | ${remedy} |`);
    return [
      `## ${title}`,
      "",
      "| code | failure | cause | what to do |",
      "| --- | --- | --- | --- |",
      ...rows,
      "",
    ].join("\n");
  });
  return [introduction, ...parts].join("\n");
}
