// Talos' own validator on the final config of every node, as `preview` and `up` run it before the engine.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { type Generator, startGenerator } from "../../scripts/render/generator.ts";
import { checkNodeConfigs, talosValidator, type Validator } from "../../scripts/render/validate.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { programPath } from "../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { type RawConfig, rawConfig } from "../support/rawConfig.ts";

jest.setTimeout(60_000);

let generator: Generator;
let validate: Validator;
beforeAll(async () => {
  const plugins = toolNamed("plugins");
  await ensureTools([plugins]);
  generator = await startGenerator(programPath(plugins, "pulumi-resource-talos"));
  validate = await talosValidator(String(rawConfig("home").talosVersion));
}, 30 * 60_000);
afterAll(() => generator?.stop());

const check = (changes: RawConfig) =>
  checkNodeConfigs(
    parseClusterConfig({ ...rawConfig("home"), ...changes }),
    "v1.12",
    generator,
    validate,
    "Pulumi.home.yaml",
  );
const subnet = (validSubnets: string) => ({ machine: { kubelet: { nodeIP: { validSubnets: [validSubnets] } } } });

describe("before anything is created, Talos' validator", () => {
  test("S2.6 accepts the configs of an environment without faults", async () => {
    await expect(check({})).resolves.toBeUndefined();
  });

  test("S2.6 refuses the config of one node, with its name and the field", async () => {
    await expect(
      check({ patches: [{ name: "broken", nodes: ["w-2"], patch: subnet("10.0.1.0/33") }] }),
    ).rejects.toThrow(
      /^Pulumi\.home\.yaml has 1 fault:\n {2}nodes\[4\] \(w-2\): the machine config is refused by Talos [\d.]+: kubelet nodeIP subnet is not valid: "10\.0\.1\.0\/33"$/,
    );
  });

  test("S2.6 lists each error once, with all nodes that it is about", async () => {
    const kubelet = { ...subnet("10.0.1.0/33").machine.kubelet };
    const patch = { machine: { kubelet, nodeAnnotations: { "a b": "c" } } };
    const refused = check({ patches: [{ name: "broken", patch }] });
    await expect(refused).rejects.toThrow(/has 2 faults:/);
    await expect(refused).rejects.toThrow(
      /nodes\[0\] \(cp-1\): .* \(so are those of cp-2, cp-3, w-1, w-2\): kubelet nodeIP/,
    );
  });

  test("S2.6 says nothing of a secret patch but where it takes effect, and the rest in full", async () => {
    const refused = check({
      patches: [{ name: "open", nodes: ["w-1"], patch: subnet("10.0.1.0/33") }],
      secretPatches: [{ name: "hidden", nodes: ["w-2"], patch: subnet("hunter2") }],
    });
    await expect(refused).rejects.toThrow(/\(w-1\): .*10\.0\.1\.0\/33/);
    await expect(refused).rejects.toThrow(/\(w-2\): .*its words are not shown, because they may quote a secret patch/);
    await expect(refused).rejects.not.toThrow(/hunter2/);
  });
});
