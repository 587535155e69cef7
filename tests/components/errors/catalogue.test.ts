// The catalogue has exactly the codes that the program raises.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { catalogue } from "../../../components/errors/catalogue.ts";

const sources = globSync("{components,stacks,scripts}/**/*.ts")
  .filter((file) => !file.endsWith("errors/catalogue.ts"))
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");
const raised = new Set(sources.match(/SLU-[A-Z]\d+/g));

test("S1.7 every code of the catalogue is raised somewhere", () => {
  expect(Object.keys(catalogue).filter((code) => !raised.has(code))).toEqual([]);
});

test("S1.7 every code that is raised is in the catalogue", () => {
  expect([...raised].filter((code) => !(code in catalogue))).toEqual([]);
});
