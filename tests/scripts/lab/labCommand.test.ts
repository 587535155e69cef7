import { describe, expect, test } from "@jest/globals";
import { commands, labCommand, readCall } from "../../../scripts/lab/labCommand.ts";

describe("a call of the lab", () => {
  test.each([
    [["up"], { name: "default", command: "up", args: [] }],
    [["up", "--help"], { name: "default", command: "up", args: ["--help"] }],
    [["up", "--profile", "real"], { name: "default", command: "up", args: ["--profile", "real"] }],
    [["up", "--name", "second"], { name: "second", command: "up", args: [] }],
    [["--name=second", "up", "--seed=2"], { name: "second", command: "up", args: ["--seed=2"] }],
    [["timeline", "--follow", "--name", "a"], { name: "a", command: "timeline", args: ["--follow"] }],
    [
      ["exec", "kubectl", "get", "nodes"],
      { name: "default", command: "exec", args: ["--", "kubectl", "get", "nodes"] },
    ],
    [
      ["fault", "add", "--on", "cloud", "--name", "POST /v1/servers"],
      { name: "default", command: "fault", args: ["add", "--on", "cloud", "--name", "POST /v1/servers"] },
    ],
    [["--name", "a", "fault", "add", "--name=lease"], { name: "a", command: "fault", args: ["add", "--name=lease"] }],
    [["fault", "list", "--name", "a"], { name: "a", command: "fault", args: ["list"] }],
    [["exec", "--name", "a", "--", "curl", "--help"], { name: "a", command: "exec", args: ["--", "curl", "--help"] }],
    [
      ["exec", "helm", "list", "--name", "x", "-h"],
      { name: "default", command: "exec", args: ["--", "helm", "list", "--name", "x", "-h"] },
    ],
  ])("%j is read", (args, call) => {
    expect(readCall(args)).toEqual(call);
  });

  test.each([[[]], [["--help"]], [["-h"]], [["--name", "a", "--help", "up"]]])("%j asks for help", (args) => {
    expect(readCall(args)).toBeUndefined();
  });

  test("with an unknown command lists the commands", () => {
    expect(() => readCall(["upp"])).toThrow(
      `the lab has no command 'upp'. Commands: ${Object.keys(commands).join(", ")}.`,
    );
  });

  test("with an option and no command asks for the command", () => {
    expect(() => readCall(["--follow"])).toThrow("missing command before '--follow'. Commands: up, ");
  });

  test.each(["", "-a", "../b", "A", "a".repeat(33)])("refuses '%s' as the name of a lab", (name) => {
    expect(() => readCall(["up", `--name=${name}`])).toThrow(`'${name}' is no valid lab name`);
  });

  test("can be typed as it is printed", () => {
    expect(labCommand("default", "down")).toBe("npm run lab -- down");
    const typed = labCommand("second", "fault", "add", "--name", "x").split(" ").slice(4);
    expect(readCall(typed)).toEqual({ name: "second", command: "fault", args: ["add", "--name", "x"] });
  });

  test("refuses a missing name", () => {
    expect(() => readCall(["up", "--name"])).toThrow("'' is no valid lab name");
  });
});
