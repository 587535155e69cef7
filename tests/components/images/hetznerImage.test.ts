import { describe, expect, test } from "@jest/globals";
import { HetznerImage, type HetznerImageArgs } from "../../../components/images/hetznerImage.ts";
import { schematicId, schematicYaml } from "../../../components/images/schematic.ts";
import { type MockOptions, record, unwrap } from "../../support/mocks.ts";

const schematic = { extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: [] };
const id = schematicId(schematic);
const labels = {
  os: "talos",
  version: "1.13.8",
  schematic: id.slice(0, 32),
  "schematic-rest": id.slice(32),
  architecture: "amd64",
};
const args: HetznerImageArgs = {
  talosVersion: "1.13.8",
  schematic,
  architecture: "amd64",
  factory: "factory.example.org",
  location: "fsn1",
  servers: { "dev-cp-1": "fsn1" },
  build: false,
  deadlineSeconds: 45,
  token: "the-token",
  isTokenPlaceholder: false,
};
const snapshotType = "pulumi-nodejs:dynamic/images:HetznerSnapshot";
const state: MockOptions["state"] = ({ type, inputs }) =>
  type === snapshotType ? { ...inputs, snapshotId: "42", description: "Talos" } : inputs;
const make = (changes: Partial<HetznerImageArgs> = {}) =>
  record(() => new HetznerImage("dev", { ...args, ...changes }), { state });

async function children(changes?: Partial<HetznerImageArgs>) {
  const { resources } = await make(changes);
  return resources.filter(({ parent }) => parent !== undefined);
}

describe("the image of Hetzner servers", () => {
  test("S0.1 is a snapshot, found by the labels of the image, with the token as a secret", async () => {
    const [snapshot, ...others] = await children();
    expect(others).toEqual([]);
    expect(snapshot).toMatchObject({
      type: snapshotType,
      name: "dev",
      parent: "sluice:images:HetznerImage dev",
      inputs: { labels, architecture: "amd64", servers: args.servers, token: { secret: "the-token" } },
      ignoreChanges: [],
      dependencies: [],
    });
  });

  test("S0.1 is found by other labels if they are configured", async () => {
    const [snapshot] = await children({ labels: { own: "yes" } });
    expect(snapshot).toMatchObject({ inputs: { labels: { own: "yes" } } });
  });

  test("S0.1 has the snapshot's id", async () => {
    const { result } = await make();
    expect(await unwrap(result.image)).toMatchObject({ known: true, value: "42" });
  });

  test("S0.1 U2 is unknown in the first preview", async () => {
    const { result } = await record(() => new HetznerImage("dev", args), { preview: true });
    expect(await unwrap(result.image)).toMatchObject({ known: false });
  });

  test("S0.1 is made by a command before the lookup, if that is configured", async () => {
    const [command, snapshot] = await children({ build: true, labels: { own: "yes" } });
    expect(command).toMatchObject({
      type: "command:local:Command",
      name: "dev-build",
      parent: "sluice:images:HetznerImage dev",
      inputs: {
        create: "node scripts/cli/snapshot.ts",
        environment: {
          HCLOUD_TOKEN: { secret: "the-token" },
          PKR_VAR_talos_version: "1.13.8",
          PKR_VAR_schematic: schematicYaml(schematic),
          PKR_VAR_schematic_id: id,
          PKR_VAR_architecture: "amd64",
          PKR_VAR_factory: "factory.example.org",
          PKR_VAR_location: "fsn1",
          PKR_VAR_labels: '{"own":"yes"}',
        },
      },
    });
    expect(snapshot?.dependencies).toEqual(["command:local:Command dev-build"]);
  });

  test.each([
    [false, /^Make one: npm run snapshot -- \w+; or set hetzner\.snapshot\.build to true/],
    [true, /^hetzner\.snapshot\.build is on .*: npm run snapshot -- \w+$/],
  ])("S0.1 has a remedy with the command to type if there is none: build %s", async (build, expected) => {
    const snapshot = (await children({ build })).find(({ type }) => type === snapshotType);
    expect(snapshot?.inputs).toMatchObject({ remedy: expect.stringMatching(expected) });
  });

  test("U2 keeps the token that the state has in a preview without one", async () => {
    const kept = (await children({ build: true, isTokenPlaceholder: true })).map(({ ignoreChanges }) => ignoreChanges);
    expect(kept).toEqual([["environment.HCLOUD_TOKEN"], ["token"]]);
  });
});
