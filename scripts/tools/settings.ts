// `npm run settings`: writes the parts of docs/environments.md, docs/gates.md and Pulumi.yaml that are about the keys of an environment, from the schema and
// the gates.
import { main } from "../base/fail.ts";
import { generate } from "./check/generated.ts";
import { gatesPage } from "./settings/gatesPage.ts";
import { projectFile } from "./settings/projectFile.ts";
import { settingsPage } from "./settings/settingsPage.ts";

const what = `Writes the tables of keys in docs/environments.md and the block 'config:' of Pulumi.yaml from the schema of environments
(stacks/schema/clusterConfig.ts and components/model/settings), and the table of gates in docs/gates.md from components/gates.`;

await main(() =>
  generate("settings", what, {
    "docs/environments.md": settingsPage,
    "docs/gates.md": gatesPage,
    "Pulumi.yaml": projectFile,
  }),
);
