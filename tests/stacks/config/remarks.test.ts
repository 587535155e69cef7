import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { judgedVariable, previewsVariable, remarksOf } from "../../../stacks/config/remarks.ts";

const { config } = readClusterConfigFile(join(root, "Pulumi.home.yaml"));
const newer = { ...config, image: { ...config.image, extensions: ["siderolabs/quantum-drive"] } };
const npm = { [judgedVariable]: "true" };
const warnings = (isPreview: boolean, env: NodeJS.ProcessEnv) =>
  remarksOf(newer, "home", { isPreview, unjudged: undefined }, env).warnings;

describe("the remarks of the program about its configuration", () => {
  test("S6.2 have the warnings in every run of which it is not known that a preview has shown them", () => {
    expect(warnings(true, {})).toHaveLength(1);
    expect(warnings(false, {})).toHaveLength(1);
    expect(warnings(false, npm)).toHaveLength(1);
    expect(warnings(true, { ...npm, [previewsVariable]: "true" })).toHaveLength(1);
    expect(warnings(false, { ...npm, [previewsVariable]: "true" })).toEqual([]);
  });

  test("S6.2 say why Talos' validator did not run, and what runs it, and nothing where it ran", () => {
    const notes = (unjudged: string | undefined) => remarksOf(config, "home", { isPreview: true, unjudged }, {}).notes;
    expect(notes("configcheck-1.12 is not built on this machine")).toEqual([
      "Talos' own validator has not judged the machine configs: configcheck-1.12 is not built on this machine. 'npm run preview -- home' does that, and nodes refuse what it would refuse.",
    ]);
    expect(notes(undefined)).toEqual([]);
  });
});
