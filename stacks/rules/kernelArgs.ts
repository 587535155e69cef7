import type { Fault } from "../base/fault.ts";
import { rule } from "./rule.ts";

/** Kernel arguments that other keys determine. https://docs.siderolabs.com/talos/v1.12/reference/kernel */
const owned: Readonly<Record<string, string>> = {
  "talos.platform": "the image is made for one platform, and a node with another one finds no config",
  "talos.config": "Sluice sends the config to the node, which would wait for that address instead",
  "talos.hostname": "use nodes[].name",
  "talos.experimental.wipe": "it is part of the image, so every boot would wipe the disk",
  ip: "use network.addressing: the address of one node would be that of all",
};

/** One that is set by hand would win, on every node. */
export const ownedKernelArgs = rule(["image", "install"], function* ({ image, install }): Generator<Fault> {
  const args = [
    ...image.kernelArgs.map((arg, index) => ({ path: `image.kernelArgs[${index}]`, arg })),
    ...install.extraKernelArgs.map((arg, index) => ({ path: `install.extraKernelArgs[${index}]`, arg })),
  ];
  for (const { path, arg } of args) {
    const name = arg.replace(/^-/, "").replace(/=.*$/s, "");
    if (/\s/.test(arg)) {
      yield { path, message: "has blanks in it: write each argument as an entry of its own" };
    } else if (/^['"]|'$/.test(arg)) {
      yield { path, message: "has quotes that would be part of it: write it without them" };
    } else {
      // Such as talos.config.inline
      const owner = Object.keys(owned).find((one) => name === one || name.startsWith(`${one}.`));
      if (owner !== undefined) yield { path, message: `${name} cannot be set: ${owned[owner]}` };
    }
  }
});
