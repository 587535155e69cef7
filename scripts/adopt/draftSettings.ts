// The settings of an environment that describe a running cluster, as far as keys can. What remains is left to patches. Pure.
import { isIPv4 } from "node:net";
import { parse } from "yaml";
import { schematicId } from "../../components/images/schematic.ts";
import { isMapping, list, record, text } from "../../components/model/untyped.ts";
import { contains, networkOf as rangeOf } from "../../components/network/cidr.ts";
import { configDocuments, mainDocument } from "../../components/talos/config/configDocuments.ts";
import { existing } from "../../stacks/platforms/existing.ts";
import type { RunningNode } from "./lookAtCluster.ts";

/** A node as it was found. */
export interface DraftedNode extends RunningNode {
  /** In the node network. */
  readonly address: string;
}

export interface DraftedCluster {
  readonly nodes: readonly DraftedNode[];
  /** The root of GitOps, if Flux has one. */
  readonly flux?: Readonly<Record<string, unknown>> | undefined;
}

/** In the order of an environment's file. */
export type DraftSettings = Readonly<Record<string, unknown>>;

export interface Draft {
  readonly settings: DraftSettings;
  /** What could not be found out, a line each. */
  readonly doubts: readonly string[];
}

export function draftSettings({ nodes, flux }: DraftedCluster): Draft {
  const first = nodes.find(({ role }) => role === "controlplane");
  if (first === undefined) throw new Error("no control plane was found"); // the command has checked it
  const { machine, cluster } = sections(first.config);
  const image = imageOf(nodes);
  const versions = versionsOf(nodes);
  const endpoint = endpointOf(cluster);
  const vip = vipOf(first.config);
  const settings = {
    clusterName: text(cluster.clusterName),
    platform: existing.name,
    talosVersion: versions.talos,
    kubernetesVersion: versions.kubernetes,
    ...(endpoint !== undefined && endpoint !== vip && { endpoint }),
    nodes: nodes.map((node) => nodeOf(node, vip)),
    network: { ...networkOf(nodes, cluster), ...(vip !== undefined && { vip }) },
    ...(image.settings !== undefined && { image: image.settings }),
    install: installOf(machine),
    machine: machineOf(nodes, first),
    ...(flux === undefined ? { flux: { enabled: false } } : { flux }),
  };
  return { settings, doubts: [...versions.doubts, ...image.doubts] };
}

type Values = Readonly<Record<string, unknown>>;

function sections(config: string): { readonly machine: Values; readonly cluster: Values } {
  const main = record(configDocuments(config)?.find(({ title }) => title === mainDocument)?.body);
  return { machine: record(main.machine), cluster: record(main.cluster) };
}

/** In both forms that Talos knows. */
function vipOf(config: string): string | undefined {
  const documents = configDocuments(config) ?? [];
  const [own] = documents.map(({ body }) => record(body)).filter(({ kind }) => kind === "Layer2VIPConfig");
  if (own !== undefined) return text(own.name);
  const { interfaces } = record(sections(config).machine.network);
  return list(interfaces)
    .map((one) => record(record(one).vip).ip)
    .filter((ip) => typeof ip === "string")[0];
}

function nodeOf(node: DraftedNode, vip: string | undefined): Values {
  const { name, role, address, addresses, uuid, config } = node;
  // The NIC that shares the VIP is named by its MAC.
  const mac = addresses.find((one) => one.address.startsWith(`${address}/`))?.mac;
  const { nodeLabels, nodeTaints } = sections(config).machine;
  return {
    name,
    role,
    address,
    ...(vip !== undefined && role === "controlplane" && mac !== undefined && { mac }),
    ...(uuid !== "" && { uuid }),
    ...(isMapping(nodeLabels) && { labels: nodeLabels }),
    ...(isMapping(nodeTaints) && { taints: nodeTaints }),
  };
}

/** One of each for the cluster: the newest that runs anywhere would not be what the others run. */
function versionsOf(nodes: readonly DraftedNode[]) {
  const talos = [...new Set(nodes.map(({ version }) => version))];
  const kubernetes = [...new Set(nodes.map(({ config }) => kubeletVersion(sections(config).machine)))];
  const several = (what: string, found: readonly string[], key: string) =>
    found.length > 1 ? [`the nodes run several versions of ${what}: ${found.join(", ")}. ${key} has the first`] : [];
  return {
    talos: talos[0] ?? "",
    kubernetes: kubernetes[0] ?? "",
    doubts: [...several("Talos", talos, "talosVersion"), ...several("Kubernetes", kubernetes, "kubernetesVersion")],
  };
}

function kubeletVersion({ kubelet }: Values): string {
  return /:v?(\d+\.\d+\.\d+[^:@]*)/.exec(text(record(kubelet).image))?.[1] ?? "";
}

function endpointOf({ controlPlane }: Values): string | undefined {
  const { endpoint } = record(controlPlane);
  return typeof endpoint === "string" ? new URL(endpoint).hostname.replace(/^\[|\]$/g, "") : undefined;
}

/** The smallest range in which a node has an address is that of all of them, if it contains all. */
function networkOf(nodes: readonly DraftedNode[], { network }: Values): Values {
  const ranges = nodes
    .flatMap(({ address, addresses }) => addresses.filter((one) => one.address.startsWith(`${address}/`)))
    .map((one) => rangeOf(one.address))
    .filter((range) => !range.endsWith("/32") && nodes.every(({ address }) => contains(range, `${address}/32`)));
  const { podSubnets, serviceSubnets, dnsDomain } = record(network);
  const [pods, services] = [podSubnets, serviceSubnets].map((all) =>
    list(all)
      .map(text)
      .find((one) => isIPv4(one.split("/")[0] ?? "")),
  );
  return {
    nodeCidr: ranges[0] ?? "",
    ...(pods !== undefined && { podCidr: pods }),
    ...(services !== undefined && { serviceCidr: services }),
    ...(typeof dnsDomain === "string" && { dnsDomain }),
    // What a node has of these is kept by patches: Sluice writes them in its own form.
    disableSearchDomain: false,
  };
}

/** The one schematic of all nodes, as they report it; an old Talos reports only the names of its extensions. */
function imageOf(nodes: readonly DraftedNode[]) {
  const [first] = nodes;
  const ids = [...new Set(nodes.map(({ schematic }) => schematic))];
  if (first === undefined || first.schematic === "") return { doubts: [] };
  const { customization } = record(parse(first.image.schematicText));
  const { extraKernelArgs, systemExtensions } = record(customization);
  const kernelArgs = list(extraKernelArgs).map(text);
  const reported = list(record(systemExtensions).officialExtensions).map(text);
  const extensions =
    first.image.schematicText === "" ? first.image.extensions.map((name) => `siderolabs/${name}`) : reported;
  const doubts = [
    ...(ids.length > 1
      ? [`the nodes have several schematics: ${ids.join(", ")}. image describes that of ${first.name}`]
      : []),
    ...(schematicId({ extensions, kernelArgs }) === first.schematic
      ? []
      : [`schematic ${first.schematic} has more than image can describe: npm run adopt lists it as a difference`]),
  ];
  const settings = {
    ...(extensions.length > 0 && { extensions }),
    ...(kernelArgs.length > 0 && { kernelArgs }),
  };
  return { settings: Object.keys(settings).length > 0 ? settings : undefined, doubts };
}

function installOf({ install }: Values): Values {
  const { disk, diskSelector, wipe } = record(install);
  return {
    ...(isMapping(diskSelector) ? { diskSelector } : typeof disk === "string" ? { disk } : {}),
    ...(wipe === true && { wipe }),
  };
}

/** The keys that no patch may set; Sluice has other defaults than Talos. */
function machineOf(nodes: readonly DraftedNode[], first: DraftedNode): Values {
  const { machine, cluster } = sections(first.config);
  const { hostDNS } = record(machine.features);
  const { enabled, forwardKubeDNSToHost, resolveMemberNames } = record(hostDNS);
  const kubelet = record(machine.kubelet);
  const apiServer = record(cluster.apiServer);
  const args = record(apiServer.extraArgs);
  const sans = list(apiServer.certSANs).map(text);
  // Those that the generator adds by itself.
  const implied = new Set([endpointOf(cluster), ...nodes.map(({ address }) => address)]);
  const ownSans = sans.filter((name) => !implied.has(name));
  return {
    hostDNS: {
      enabled: enabled === true,
      forwardKubeDNSToHost: forwardKubeDNSToHost === true,
      resolveMemberNames: resolveMemberNames === true,
    },
    kubelet: { featureGates: gatesIn(record(kubelet.extraArgs)), serializeImagePulls: true },
    apiServer: {
      featureGates: gatesIn(args),
      aggregatorRouting: text(args["enable-aggregator-routing"]) === "true",
      ...(ownSans.length > 0 && { certSANs: ownSans }),
    },
    ciliumHostDNS: false,
    scheduleOnControlPlanes: cluster.allowSchedulingOnControlPlanes === true,
  };
}

/** "A=true,B=false". */
function gatesIn(args: Values): Readonly<Record<string, boolean>> {
  const gates = text(args["feature-gates"])
    .split(",")
    .filter((gate) => gate !== "");
  return Object.fromEntries(gates.map((gate) => gate.split("=")).map(([name = "", value]) => [name, value === "true"]));
}

/** From the objects of `flux bootstrap` and of Sluice, which have the same names. */
export function fluxOf(source: unknown, root: unknown): Values | undefined {
  const { url, ref, interval } = record(record(source).spec);
  const { path } = record(record(root).spec);
  if (typeof url !== "string") return undefined;
  const { branch, commit } = record(ref);
  return {
    url,
    ...(typeof branch === "string" && { branch }),
    ...(typeof commit === "string" && { revision: commit }),
    ...(typeof path === "string" && { path: path.startsWith("./") ? path : `./${path.replace(/^\//, "")}` }),
    ...(typeof interval === "string" && { interval: interval.replace(/(?<=m)0s$/, "") }),
  };
}
