// `npm run failures`: writes docs/failure-codes.md from the catalogue of failures.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { failurePage } from "./failures/failurePage.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";

const page = join(root, "docs", "failure-codes.md");

await main(async () => {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, help: { type: "boolean" } } });
  if (values.help) {
    console.log(
      "npm run failures -- [--check]\n\nWrites docs/failure-codes.md; with --check only says whether it would change.",
    );
    return 0;
  }
  if (!values.check) {
    await writeFile(page, failurePage());
    console.log("sluice: docs/failure-codes.md is written");
    return 0;
  }
  if ((await readFile(page, "utf8")) !== failurePage()) {
    throw new Failure("docs/failure-codes.md is not what the catalogue gives. Run `npm run failures`.");
  }
  console.log("sluice: docs/failure-codes.md is what the catalogue gives");
  return 0;
});
