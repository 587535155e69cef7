// `npm run graph -- <environment>`: the chain of an environment with its gates, as a picture.
import { join } from "node:path";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { readEnvironmentCall } from "../base/commandLine.ts";
import { settingsFile } from "../base/environments.ts";
import { main } from "../base/fail.ts";
import { namedFile, writeWhole } from "../base/files.ts";
import { workFolder } from "../base/paths.ts";

const usage = `npm run graph -- <environment> [--file <file>]

Draws the chain of the environment with its gates, as SVG. Needs no cluster, no state and no network.

  --file <file>   which file; without it .work/graph/<environment>.svg. - is the standard output`;

await main(async () => {
  const call = await readEnvironmentCall(usage, { file: { type: "string" } });
  if (call === undefined) return 0;
  const { environment, values } = call;
  const { config, hidden } = readClusterConfigFile(await settingsFile(environment));
  if (hidden.length > 0) {
    console.error(`sluice: ${hidden.join(", ")} can be decrypted only by the engine and is left out`);
  }
  // Loads the program and the SDKs that it uses, which takes a second.
  const { environmentSvg } = await import("../graph/environmentSvg.ts");
  const svg = await environmentSvg(environment, config);
  if (values.file === "-") {
    process.stdout.write(svg);
    return 0;
  }
  const path = values.file === undefined ? join(workFolder, "graph", `${environment}.svg`) : namedFile(values.file);
  await writeWhole(path, svg);
  console.log(path);
  return 0;
});
