import { expect, test } from "@jest/globals";
import { count } from "../../../components/model/count.ts";

test.each([
  [0, "0 nodes"],
  [1, "1 node"],
  [2, "2 nodes"],
])("%d of a thing reads %s", (amount, text) => {
  expect(count(amount, "node")).toBe(text);
});
