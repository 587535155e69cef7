import { type CatalogueEntry, catalogue } from "../../components/errors/catalogue.ts";

const introduction = `# Failure codes

Every failure of a run that has a code, with its cause and what to do. The message itself says more: which node or object, what was seen, for how
long. What has no code, such as a fault of the configuration or of the toolchain, is in [failures](failures.md).

This page is made from \`components/errors/catalogue.ts\` by \`npm run failures\`.
`;

/** The chapters, by what the codes begin with. */
const chapters: Readonly<Record<string, string>> = {
  M1: "Machines",
  T1: "Reaching a node",
  T2: "Configuring a node, and bootstrap",
  T3: "Gates on Talos",
  L1: "Nodes that come and go",
  K1: "Gates on Kubernetes",
  K2: "Platform",
};

/** docs/failure-codes.md, as the catalogue has it. */
export function failurePage(): string {
  const entries: readonly (readonly [code: string, entry: CatalogueEntry])[] = Object.entries(catalogue);
  const parts = Object.entries(chapters).map(([prefix, title]) => {
    const rows = entries
      .filter(([code]) => code.startsWith(`SLU-${prefix}`))
      .map(([code, { title: what, cause, remedy }]) => `| ${code} | ${what} | ${cause} | ${remedy} |`);
    return [`## ${title}`, "", "| code | what | cause | what to do |", "| --- | --- | --- | --- |", ...rows, ""].join(
      "\n",
    );
  });
  return [introduction, ...parts].join("\n");
}
