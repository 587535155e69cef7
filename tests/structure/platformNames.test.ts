import { globSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { allPlatforms } from "../../stacks/platforms/registry.ts";

const names = allPlatforms.map(({ name }) => name);
const own = names.flatMap((name) => [
  `components/machines/${name}/`,
  `components/model/settings/${name}.ts`,
  `stacks/platforms/${name}`,
]);
const files = globSync("{components,stacks,scripts}/**/*.ts").filter(
  (file) => !own.some((path) => file.startsWith(path)),
);

test("only the files of a platform name it in code: everything else asks the platform's object", () => {
  expect(files.length).toBeGreaterThan(300);
  const literal = new RegExp(`["'\`](${names.join("|")})["'\`]`);
  const found = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, index) => (literal.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
