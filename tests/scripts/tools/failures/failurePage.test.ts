import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { catalogue } from "../../../../components/errors/catalogue.ts";
import { failurePage } from "../../../../scripts/tools/failures/failurePage.ts";

describe("Failure codes", () => {
  test("docs/failure-codes.md is what the catalogue generates", () => {
    expect(readFileSync("docs/failure-codes.md", "utf8")).toBe(failurePage());
  });

  test.each(Object.keys(catalogue))("%s has a row in a chapter", (code) => {
    expect(failurePage()).toContain(`\n| ${code} | `);
  });
});
