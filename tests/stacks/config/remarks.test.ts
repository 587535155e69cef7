import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { judgedVariable, previewsVariable, remarksOf } from "../../../stacks/config/remarks.ts";

const { config } = readClusterConfigFile(join(root, "Pulumi.home.yaml"));
const newer = { ...config, image: { ...config.image, extensions: ["siderolabs/quantum-drive"] } };
const npm = { [judgedVariable]: "true" };
const warnings = (isPreview: boolean, env: NodeJS.ProcessEnv) => remarksOf(newer, "home", isPreview, env).warnings;

describe("the remarks of the program about its configuration", () => {
  test("S6.2 have the warnings in every run of which it is not known that a preview has shown them", () => {
    expect(warnings(true, {})).toHaveLength(1);
    expect(warnings(false, {})).toHaveLength(1);
    expect(warnings(false, npm)).toHaveLength(1);
    expect(warnings(true, { ...npm, [previewsVariable]: "true" })).toHaveLength(1);
    expect(warnings(false, { ...npm, [previewsVariable]: "true" })).toEqual([]);
  });

  test("S6.2 say in a preview of plain Pulumi that Talos' validator did not run, and what runs it", () => {
    const [note = "", ...others] = remarksOf(config, "home", true, {}).notes;
    expect(others).toEqual([]);
    expect(note).toMatch(/^Talos' own validator has not judged .*'npm run preview -- home'/);
    expect(remarksOf(config, "home", true, npm).notes).toEqual([]);
    expect(remarksOf(config, "home", false, {}).notes).toEqual([]);
  });
});
