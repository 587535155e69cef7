import { describe, expect, test } from "@jest/globals";
import { ProxmoxImages, type ProxmoxImagesArgs } from "../../../components/images/proxmoxImages.ts";
import { schematicId, schematicYaml } from "../../../components/images/schematic.ts";
import { record, title, unwrap } from "../../support/mocks.ts";

const shared = { extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: [] };
const own = (value: string) => ({ ...shared, meta: [{ key: 10, value }] });
const args: ProxmoxImagesArgs = {
  clusterName: "home",
  talosVersion: "1.12.6",
  platform: "nocloud",
  architecture: "amd64",
  secureBoot: false,
  factory: "factory.example.org",
  storage: "local",
  deadlineSeconds: 45,
  installer: shared,
  nodes: [
    { name: "cp-1", host: "pve1", schematic: shared },
    { name: "cp-2", host: "pve2", schematic: shared },
    { name: "w-1", host: "pve1", schematic: shared },
  ],
};
const make = (changes: Partial<ProxmoxImagesArgs> = {}) =>
  record(() => new ProxmoxImages("home-image", { ...args, ...changes }));
const registration = "pulumi-nodejs:dynamic/images:FactorySchematic";
const file = "proxmoxve:download/file:File";

describe("the images of Proxmox machines", () => {
  test("S4.1 are one for each host, all from a schematic that was sent to the factory before", async () => {
    const { resources, result } = await make();
    expect(resources.map(title)).toEqual([
      `${file} home-image-pve1`,
      `${file} home-image-pve2`,
      `${registration} home-image`,
      "sluice:images:ProxmoxImages home-image",
    ]);
    const id = schematicId(shared);
    expect(resources[0]).toMatchObject({
      inputs: {
        nodeName: "pve1",
        datastoreId: "local",
        contentType: "import",
        url: `https://factory.example.org/image/${id}/v1.12.6/nocloud-amd64.qcow2`,
        fileName: `home-talos-1.12.6-nocloud-amd64-${id.slice(0, 16)}-pve1.qcow2`,
        overwrite: false,
        overwriteUnmanaged: true,
        uploadTimeout: 1800,
      },
      dependencies: [`${registration} home-image`],
    });
    // If hosts share the storage, neither overwrites the other's.
    const names = resources.slice(0, 2).map(({ inputs }) => (inputs as { fileName: string }).fileName);
    expect(new Set(names).size).toBe(2);
    expect(resources[2]?.inputs).toMatchObject({
      factory: "factory.example.org",
      schematic: schematicYaml(shared),
      schematicId: id,
    });
    const ids = await Promise.all(Object.values(result.images).map(unwrap));
    expect(ids.map(({ value }) => value)).toEqual(["home-image-pve1-id", "home-image-pve2-id", "home-image-pve1-id"]);
  });

  test("S4.3 are separate for each node if they have its address", async () => {
    const nodes = args.nodes.map((node) => ({ ...node, schematic: own(node.name) }));
    const { resources, result } = await make({ platform: "metal", nodes });
    expect(resources.map(title)).toEqual([
      ...["cp-1", "cp-2", "w-1"].map((node) => `${file} home-image-${node}`),
      `${registration} home-image`, // of what installs them
      ...["cp-1", "cp-2", "w-1"].map((node) => `${registration} home-image-${node}`),
      "sluice:images:ProxmoxImages home-image",
    ]);
    const id = schematicId(own("cp-2"));
    expect(resources[1]?.inputs).toMatchObject({
      nodeName: "pve2",
      url: expect.stringContaining(`/${id}/v1.12.6/metal-`),
    });
    const image = result.images["cp-2"];
    expect(image && (await unwrap(image)).value).toBe("home-image-cp-2-id");
  });

  test("S2.5 are signed if the firmware requires that", async () => {
    const { resources } = await make({ secureBoot: true });
    expect(resources[0]?.inputs).toMatchObject({ url: expect.stringMatching(/\/nocloud-amd64-secureboot\.qcow2$/) });
  });

  test("S4.2 do not change for other nodes when one is added", async () => {
    const added = { name: "cp-0", host: "pve3", schematic: shared };
    const before = await make();
    const after = await make({ nodes: [added, ...args.nodes] });
    const isNew = ({ name }: { name: string }) => name === "home-image-pve3";
    expect(after.resources.filter((resource) => !isNew(resource))).toEqual(before.resources);
    expect(after.resources.filter(isNew)).toHaveLength(1);
  });
});
