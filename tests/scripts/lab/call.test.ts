import { describe, expect, test } from "@jest/globals";
import { commands, labCommand, readCall } from "../../../scripts/lab/call.ts";

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
  ])("%j is understood", (args, call) => {
    expect(readCall(args)).toEqual(call);
  });

  test.each([[[]], [["--help"]], [["-h"]], [["--name", "a", "--help", "up"]]])("%j asks for help", (args) => {
    expect(readCall(args)).toBeUndefined();
  });

  test("of a command that there is not names those that there are", () => {
    expect(() => readCall(["upp"])).toThrow(
      `the lab has no command 'upp'. There are: ${Object.keys(commands).join(", ")}.`,
    );
  });

  test("of an option without a command asks for the command", () => {
    expect(() => readCall(["--follow"])).toThrow("what with --follow? There are: up, ");
  });

  test.each(["", "-a", "../b", "A", "a".repeat(33)])("refuses '%s' as the name of a lab", (name) => {
    expect(() => readCall(["up", `--name=${name}`])).toThrow(`'${name}' is no name for a lab`);
  });

  test("is written so that it is understood", () => {
    expect(labCommand("default", "down")).toBe("npm run lab -- down");
    const typed = labCommand("second", "fault", "add", "--name", "x").split(" ").slice(4);
    expect(readCall(typed)).toEqual({ name: "second", command: "fault", args: ["add", "--name", "x"] });
  });

  test("refuses a name that is left out", () => {
    expect(() => readCall(["up", "--name"])).toThrow("'' is no name for a lab");
  });
});
