// How Talos, the kubelet and the API server are set up.
import { isIPv6 } from "node:net";
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { isHostName } from "./hostName.ts";
import { featureGates, udpUrl } from "./scalars.ts";

const change = "no reboot";

export const machine = z
  .strictObject({
    hostDNS: z
      .strictObject({
        enabled: z.boolean().default(true).meta({ description: "Run Talos' own DNS resolver on every node.", change }),
        forwardKubeDNSToHost: z.boolean().default(true).meta({
          description: "CoreDNS forwards to the resolver of its node.",
          change,
        }),
        resolveMemberNames: z.boolean().default(true).meta({
          description: "The resolver knows the nodes of the cluster by their names.",
          change,
        }),
      })
      .prefault({})
      .meta({ description: "Talos' own DNS resolver on every node." }),
    kubelet: z
      .strictObject({
        featureGates: featureGates.default({ ImageVolume: true }).meta({
          description: "Feature gates of the kubelet.",
          change,
        }),
        serializeImagePulls: z.boolean().default(false).meta({
          description: "Pull one image after the other.",
          change,
        }),
      })
      .prefault({})
      .meta({ description: "The kubelet of every node." }),
    apiServer: z
      .strictObject({
        aggregatorRouting: z.boolean().default(true).meta({
          description:
            "Reach aggregated APIs by the addresses of their endpoints. Needed if the API server cannot route to addresses of Services.",
          change,
        }),
        featureGates: featureGates.optional().meta({
          fallback: "those of the kubelet",
          description: "Feature gates of the API server. A gate that the kubelet has too must have the same value.",
          change,
        }),
        certSANs: z
          .array(
            z
              .string()
              .refine(
                (text) => isHostName(text.replace(/^\*\./, "")) || isIPv6(text),
                "must be a name or an address without scheme, port or path, such as k8s.example.org",
              ),
          )
          .default([])
          .meta({
            form: "list of names and addresses",
            example: ["k8s.example.org"],
            description: "Further names and addresses in the API server's certificate.",
            change,
          }),
      })
      .prefault({})
      .meta({ description: "The Kubernetes API server." }),
    ciliumHostDNS: z.boolean().optional().meta({
      fallback: "the value of `machine.hostDNS.forwardKubeDNSToHost`",
      description:
        "Add an address to `lo` by which pods reach the node's resolver, because Cilium routes in eBPF, past the host.",
      change,
    }),
    scheduleOnControlPlanes: z.boolean().optional().meta({
      fallback: "`true` if the cluster has no worker",
      description: "Run ordinary pods on control planes.",
      change,
    }),
    logShipping: z
      .strictObject({
        enabled: z.boolean().default(false).meta({ description: "Send logs of services and of the kernel.", change }),
        services: udpUrl.default("udp://127.0.0.1:6051").meta({
          description: "Where logs of services are sent, as lines of JSON.",
          change,
        }),
        kernel: udpUrl.default("udp://127.0.0.1:6050").meta({ description: "Where kernel logs are sent.", change }),
      })
      .prefault({})
      .meta({ description: "Sends the nodes' logs elsewhere." }),
  })
  .meta({ description: "Settings of Talos, the kubelet and the API server." });

export type MachineSettings = Settings<typeof machine>;
