import { describe, expect, test } from "@jest/globals";
import { table, width } from "../../../scripts/base/table.ts";

describe("a table", () => {
  test("has columns as wide as they need, and numbers to the right", () => {
    const rows = [
      ["cp-1", "0.2 s", "w"],
      ["w", "12.0 s", ""],
    ];
    expect(table([{ title: "Node" }, { title: "Took", align: "right" }, { title: "" }], rows)).toEqual([
      "  Node    Took",
      "  cp-1   0.2 s  w",
      "  w     12.0 s",
    ]);
  });

  test("fits a terminal: the flexible column is cut, with an ellipsis", () => {
    const long = "x".repeat(200);
    const lines = table(
      [{ title: "Gate" }, { title: "Saw", gives: true }, { title: "Took" }],
      [["Etcd", long, "1.0 s"]],
    );
    expect(lines.map(({ length }) => length)).toEqual([expect.any(Number), width]);
    expect(lines[1]).toMatch(/^ {2}Etcd {2}x+… {2}1\.0 s$/);
  });

  test("without rows has its titles", () => {
    expect(table([{ title: "Node" }, { title: "Role" }], [])).toEqual(["  Node  Role"]);
  });
});
