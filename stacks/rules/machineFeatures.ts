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
