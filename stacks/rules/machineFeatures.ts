import { rule } from "./rule.ts";

/** S2.1: a gate that is on in one and off in the other gives pods that the API server takes and the kubelet cannot run, or the other way round. */
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

/** The parts of the host resolver need the resolver. */
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
      message:
        "is on, but machine.hostDNS.forwardKubeDNSToHost is off: nothing would use the address on lo; leave it out",
    };
  }
});

export const certSANs = rule(["machine"], function* ({ machine: { apiServer } }) {
  for (const [index, name] of apiServer.certSANs.entries()) {
    if (apiServer.certSANs.indexOf(name) < index) {
      yield { path: `machine.apiServer.certSANs[${index}]`, message: `${name} is listed before: remove one` };
    }
  }
});

const kernelLogArgument = "talos.logging.kernel=";

/**
 * S2.1: the kernel argument brings the messages from before the config. To a place that the config names too, Talos sends
 * once, but it compares the texts (KmsgLogConfigController): another spelling would bring every message twice.
 */
export const kernelLogs = rule(["machine", "image", "install"], function* ({ machine, image, install }) {
  const { enabled, kernel } = machine.logShipping;
  const args = [
    ...image.kernelArgs.map((arg, index) => ({ path: `image.kernelArgs[${index}]`, arg })),
    ...install.extraKernelArgs.map((arg, index) => ({ path: `install.extraKernelArgs[${index}]`, arg })),
  ];
  for (const { path, arg } of args.filter(({ arg }) => enabled && arg.startsWith(kernelLogArgument))) {
    const url = arg.slice(kernelLogArgument.length);
    if (url !== kernel && placeOf(url) === placeOf(kernel)) {
      yield {
        path,
        message: `${url} is machine.logShipping.kernel in other words, and every message would come twice: write ${kernel}`,
      };
    }
  }
});

function placeOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`.toLowerCase();
}
