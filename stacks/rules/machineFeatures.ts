import { rule } from "./rule.ts";

/** S2.1: if a feature gate is on in one and off in the other, the API server accepts pods that the kubelet cannot run, or refuses pods that it could run. */
export const featureGates = rule(["machine"], function* ({ machine }) {
  const kubelet = machine.kubelet.featureGates;
  for (const [gate, value] of Object.entries(machine.apiServer.featureGates ?? {})) {
    if (kubelet[gate] !== undefined && kubelet[gate] !== value) {
      yield {
        path: `machine.apiServer.featureGates.${gate}`,
        message: `is ${value}, but machine.kubelet.featureGates.${gate} is ${kubelet[gate]}: both must be the same`,
      };
    }
  }
});

/** Features of the resolver need the resolver. */
export const hostResolver = rule(["machine"], function* ({ machine: { hostDNS, ciliumHostDNS } }) {
  for (const key of ["forwardKubeDNSToHost", "resolveMemberNames"] as const) {
    if (hostDNS[key] && !hostDNS.enabled) {
      yield {
        path: `machine.hostDNS.${key}`,
        message: "is on (as it is by default), but machine.hostDNS.enabled is off: set it to false too",
      };
    }
  }
  if (ciliumHostDNS && !hostDNS.forwardKubeDNSToHost) {
    yield {
      path: "machine.ciliumHostDNS",
      message: "is on, but machine.hostDNS.forwardKubeDNSToHost is off: nothing would use the address on lo; remove it",
    };
  }
});

export const certSANs = rule(["machine"], function* ({ machine: { apiServer } }) {
  for (const [index, name] of apiServer.certSANs.entries()) {
    if (apiServer.certSANs.indexOf(name) < index) {
      yield { path: `machine.apiServer.certSANs[${index}]`, message: `${name} is listed twice: remove one` };
    }
  }
});

const kernelLogArgument = "talos.logging.kernel=";

/**
 * S2.1: with the kernel argument messages are sent before there is a config. If the config names the same destination, Talos sends them once, but it compares
 * the texts (KmsgLogConfigController): with another spelling every message would be sent twice.
 */
export const kernelLogs = rule(["machine", "image", "install"], function* ({ machine, image, install }) {
  const { enabled, kernel } = machine.logShipping;
  const args = [
    ...image.kernelArgs.map((arg, index) => ({ path: `image.kernelArgs[${index}]`, arg })),
    ...install.extraKernelArgs.map((arg, index) => ({ path: `install.extraKernelArgs[${index}]`, arg })),
  ];
  for (const { path, arg } of args.filter(({ arg }) => enabled && arg.startsWith(kernelLogArgument))) {
    const url = arg.slice(kernelLogArgument.length);
    if (url !== kernel && destinationOf(url) === destinationOf(kernel)) {
      yield {
        path,
        message: `${url} is another spelling of machine.logShipping.kernel, and every message would be sent twice: write ${kernel}`,
      };
    }
  }
});

function destinationOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`.toLowerCase();
}
