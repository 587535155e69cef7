import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { type Base, changed, rawConfig } from "../../support/rawConfig.ts";

const file = `${import.meta.dirname}/../../fixtures/config/accepted/nearMisses.yaml`;
const settings: { title: string; base: Base; change: Record<string, unknown> }[] = parse(readFileSync(file, "utf8"));

test.each(settings)("S2.4 a setting that resembles a refused one is accepted: $title", ({ base, change }) => {
  const raw = Object.entries(change).reduce((config, [path, value]) => changed(config, path, value), rawConfig(base));
  expect(() => parseClusterConfig(raw)).not.toThrow();
});
