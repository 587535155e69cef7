import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { schematicId, schematicYaml } from "../../../components/images/schematic.ts";

const guestAgent = "siderolabs/qemu-guest-agent";

describe("a schematic (S2.3)", () => {
  test("with the guest agent alone has the known id", () => {
    expect(schematicId({ extensions: [guestAgent], kernelArgs: [] })).toBe(
      "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
    );
  });

  test("with the guest agent and a kernel argument has the known id [C18]", () => {
    const kernelArgs = ["talos.logging.kernel=udp://127.0.0.1:6050"];
    expect(schematicId({ extensions: [guestAgent], kernelArgs })).toBe(
      "a7f294c4436e874167652f711750f9bc607c89f12f7c27f183584a25763a2bca",
    );
  });

  // From the factory's own test, image-factory v0.6.9 pkg/schematic/schematic_test.go.
  test.each([
    ["nothing", { kernelArgs: [] }, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"],
    [
      "kernel arguments",
      { kernelArgs: ["noapic", "nolapic"] },
      "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c",
    ],
    [
      "META contents",
      { kernelArgs: [], meta: [{ key: 10, value: "foo" }] },
      "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f",
    ],
  ])("with %s has the id that the factory's test expects", (_title, schematic, id) => {
    expect(schematicId({ extensions: [], ...schematic })).toBe(id);
  });

  // Made with the factory's own package, image-factory v0.6.9 pkg/schematic.
  test.each([
    [
      "54767c12a87ab309587a8b2a8155476ab2f1edf666bff597c1c42a8a76c0839a",
      {
        extensions: [guestAgent, "siderolabs/tailscale"],
        kernelArgs: ["console=ttyS0,115200n8", "-selinux"],
        meta: [
          {
            key: 10,
            value: '{"addresses":[{"address":"10.0.0.11/16","linkName":"eth0"}],"hostnames":[{"hostname":"it\'s"}]}',
          },
        ],
      },
    ],
    [
      "f2473c739c2b48c7c323937f775a00a16a1e66753d1629abd16d35ae6fdced3f",
      {
        extensions: [],
        kernelArgs: ["true", "off", "null", "12", "0x1f", "1_000", "1.5", "12:30:45", "2001-01-01", "~"],
      },
    ],
    [
      "d81386c58b7f2a3887705d602e96abb026efdab8948a412db0aabcc4cec8a07e",
      {
        extensions: [],
        kernelArgs: ["*", "&a", "a: b", "a:b", "a #b", "- a", "-a", "{a}", "'", '"', "%a", "@a", "a ", ":", "---"],
      },
    ],
  ])("quotes values in YAML as the factory does: %s", (id, schematic) => {
    expect(schematicId(schematic)).toBe(id);
  });

  test("has the factory's field order, an indent of four spaces, and no empty fields", () => {
    expect(
      schematicYaml({
        extensions: [guestAgent, "siderolabs/tailscale"],
        kernelArgs: ["net.ifnames=0"],
        meta: [{ key: 10, value: '{"addresses":[]}' }],
      }),
    ).toBe(`customization:
    extraKernelArgs:
        - net.ifnames=0
    meta:
        - key: 10
          value: '{"addresses":[]}'
    systemExtensions:
        officialExtensions:
            - siderolabs/qemu-guest-agent
            - siderolabs/tailscale
`);
    expect(schematicYaml({ extensions: [], kernelArgs: [] })).toBe("customization: {}\n");
  });

  test("has an id that no other schematic has", () => {
    const words = fc.array(fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 6 }), { maxLength: 3 });
    fc.assert(
      fc.property(words, words, words, words, (extensions, kernelArgs, otherExtensions, otherArgs) => {
        const same = JSON.stringify([extensions, kernelArgs]) === JSON.stringify([otherExtensions, otherArgs]);
        const ids = [
          schematicId({ extensions, kernelArgs }),
          schematicId({ extensions: otherExtensions, kernelArgs: otherArgs }),
        ];
        expect(ids[0] === ids[1]).toBe(same);
      }),
    );
  });

  test("is refused with a value that is not one line of printable ASCII", () => {
    const refused = (value: string) => () =>
      schematicId({ extensions: [], kernelArgs: [], meta: [{ key: 10, value }] });
    expect(refused("a\nb")).toThrow('a schematic holds printable ASCII on one line only, not "a\\nb"');
    expect(refused("ä")).toThrow("printable ASCII");
  });
});
