// What every machine boots and how Talos on it is set up.
import { z } from "zod";
import { dnsLabel, featureGates, udpUrl } from "./scalars.ts";

/** A patch of the person's own: merged after ours, in the order given. */
export const patch = z.strictObject({
  /** What the patch is for; errors and the preview name it. */
  name: dnsLabel,
  /** The switch that must be on for the patch to be written, for example `logShipping`; without it the patch is always written. */
  when: z.string().optional(),
  /** Only nodes of this role; every node without it. */
  role: z.enum(["controlplane", "worker"]).optional(),
  /** Only these nodes, by name; every node without it. */
  nodes: z.array(z.string()).min(1).optional(),
  /** The patch itself, a part of a machine config (merged) or a config document with `kind` (added). */
  patch: z.record(z.string(), z.unknown()),
});

export const image = z.strictObject({
  /** Official system extensions, for example `siderolabs/qemu-guest-agent`. */
  extensions: z.array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/, "must be '<owner>/<extension>'")).default([]),
  /** Kernel arguments, part of the schematic. */
  kernelArgs: z.array(z.string().min(1)).default([]),
  secureBoot: z.boolean().default(false),
  architecture: z.enum(["amd64", "arm64"]).default("amd64"),
  /** Host of the Image Factory. */
  factory: z
    .string()
    .refine(
      (text) => /^[a-z0-9.-]+(:\d+)?$/.test(text) && URL.canParse(`https://${text}`),
      "must be a host name without scheme or path",
    )
    .default("factory.talos.dev"),
});

export const machine = z.strictObject({
  /** Talos' own resolver on every node. */
  hostDNS: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** CoreDNS forwards to the node's resolver. */
      forwardKubeDNSToHost: z.boolean().default(true),
      /** Node names resolve to node addresses. */
      resolveMemberNames: z.boolean().default(true),
    })
    .prefault({}),
  kubelet: z
    .strictObject({
      featureGates: featureGates.default({ ImageVolume: true }),
      /** Pull one image after the other. */
      serializeImagePulls: z.boolean().default(false),
    })
    .prefault({}),
  apiServer: z
    .strictObject({
      /** Let the API server reach aggregated APIs by endpoint address; needed where it cannot route to service addresses. */
      aggregatorRouting: z.boolean().default(true),
      /** Default: the kubelet's. A gate that both name must have the same value. */
      featureGates: featureGates.optional(),
      /** More names and addresses for the API server's certificate. */
      certSANs: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  /** An address on `lo` that pods reach the node's resolver by, where Cilium routes in eBPF past the host. Default: on where `hostDNS.forwardKubeDNSToHost` is. */
  ciliumHostDNS: z.boolean().optional(),
  /** Run pods on control planes. Default: only where the cluster has no worker. */
  scheduleOnControlPlanes: z.boolean().optional(),
  logShipping: z
    .strictObject({
      enabled: z.boolean().default(false),
      /** Where service logs go, as JSON lines. */
      services: udpUrl.default("udp://127.0.0.1:6051"),
      /** Where kernel logs go. */
      kernel: udpUrl.default("udp://127.0.0.1:6050"),
    })
    .prefault({}),
});
