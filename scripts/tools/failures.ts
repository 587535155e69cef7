// `npm run failures`: writes docs/failure-codes.md from the catalogue of failures.
import { main } from "../base/fail.ts";
import { generate } from "./check/generated.ts";
import { failurePage } from "./failures/failurePage.ts";

await main(() =>
  generate("failures", "Writes docs/failure-codes.md from components/errors/catalogue.ts.", {
    "docs/failure-codes.md": failurePage,
  }),
);
