// Whether Hetzner has what an environment names. Its API reports neither the limits of an account nor whether a token may write: docs/hetzner.md
import { hetznerApi } from "../../components/api/hetznerApi.ts";
import { architectures } from "../../components/images/hetznerSnapshots.ts";
import { schematicId } from "../../components/images/schematic.ts";
import { labelSelector, snapshotLabels } from "../../components/images/snapshotLabels.ts";
import { serverOf } from "../../components/machines/hetzner/serverOf.ts";
import { spreadGroup } from "../../components/machines/hetzner/spreadGroup.ts";
import { didYouMean } from "../../components/model/suggest.ts";
import { type ApiAccess, type ApiAnswers, type ApiFinding, distinct, nodeKey, unrecorded } from "./apiCheck.ts";
import { type HetznerOffer, hetznerOffer, type Owned, type ServerType } from "./hetznerOffer.ts";
import type { HetznerConfig } from "./hetznerRules.ts";

/** What the check reads of an environment. */
export type CheckedConfig = Pick<HetznerConfig, "clusterName" | "nodes" | "settings" | "image" | "talosVersion">;

export async function hetznerCheck(config: CheckedConfig, access: ApiAccess): Promise<ApiAnswers> {
  const { token, deadlineSeconds, send } = access;
  const api = { ...hetznerApi(token), deadlineSeconds, ...(send !== undefined && { send }) };
  const query = { labels: labelsOf(config), architecture: config.image.architecture };
  return { findings: hetznerFindings(config, await hetznerOffer(api, query), access, new Date()), unchecked: [] };
}

export function hetznerFindings(
  config: CheckedConfig,
  offer: HetznerOffer,
  access: Pick<ApiAccess, "environment" | "recorded" | "isSettled">,
  now: Date,
): readonly ApiFinding[] {
  const wanted = wantedServers(config, offer);
  return distinct([
    ...zones(config, offer),
    ...wanted.flatMap((server) => [...places(server, config, offer), ...types(server, config, offer, now)]),
    ...balancer(config, offer),
    ...snapshots(config, offer, { ...access, isNeeded: wanted.some(({ isNew }) => isNew) }),
    ...taken(config, offer, access),
    ...servers(config, offer, access),
  ]);
}

interface Setting {
  readonly path: string;
  readonly value: string;
}

interface WantedServer {
  readonly type: Setting;
  readonly location: Setting;
  readonly isNew: boolean;
}

/** Servers that `up` creates, or whose type it changes. Those that exist need not be on sale any more. */
function wantedServers({ nodes, settings, clusterName }: CheckedConfig, offer: HetznerOffer): readonly WantedServer[] {
  return nodes.flatMap((node) => {
    const { serverType, location } = serverOf(node, settings);
    const server = offer.servers.find(({ name }) => name === `${clusterName}-${node.name}`);
    const isNew = server === undefined || (server.location !== undefined && server.location.name !== location);
    if (!isNew && server.server_type.name === serverType) return [];
    const own = (key: "serverType" | "location", otherwise: string) =>
      node[key] === undefined ? otherwise : nodeKey(key, node.name);
    return [
      {
        type: { path: own("serverType", `hetzner.serverTypes.${node.role}`), value: serverType },
        location: { path: own("location", "hetzner.location"), value: location },
        isNew,
      },
    ];
  });
}

function absent({ path, value }: Setting, kind: string, known: readonly string[]): ApiFinding {
  const hint = didYouMean(value, known) || `: it has ${known.join(", ")}`;
  return { code: "SLU-M121", path, message: `'${value}' is not ${kind}${hint}` };
}

function zones({ settings, clusterName }: CheckedConfig, { locations, networks }: HetznerOffer): readonly ApiFinding[] {
  const known = [...new Set(locations.map(({ network_zone }) => network_zone))];
  const { networkZone: value } = settings;
  if (known.includes(value) || networks.some(({ name }) => name === clusterName)) return [];
  return [absent({ path: "hetzner.networkZone", value }, "a network zone of Hetzner", known)];
}

function places({ location }: WantedServer, { settings }: CheckedConfig, offer: HetznerOffer): readonly ApiFinding[] {
  const { path, value } = location;
  const found = offer.locations.find(({ name }) => name === value);
  if (found === undefined) {
    const known = offer.locations.map(({ name }) => name);
    return [absent(location, "a location of Hetzner", known)];
  }
  if (found.network_zone === settings.networkZone) return [];
  const message = `${value} is in network zone ${found.network_zone}, but hetzner.networkZone is ${settings.networkZone}`;
  return [{ code: "SLU-M121", path, message }];
}

function types(
  { type, location }: WantedServer,
  { image }: CheckedConfig,
  { serverTypes, locations }: HetznerOffer,
  now: Date,
): readonly ApiFinding[] {
  const { path, value } = type;
  const finding = (message: string, more: Partial<ApiFinding> = {}): ApiFinding[] => [
    { code: "SLU-M121", path, message, ...more },
  ];
  const fits = serverTypes.filter(({ architecture }) => architecture === architectures[image.architecture]);
  const isLocation = locations.some(({ name }) => name === location.value);
  const there = fits.filter((one) => !isLocation || isSold(one, location.value, now)).map(({ name }) => name);
  const found = serverTypes.find(({ name }) => name === value);
  if (found === undefined) {
    const known = fits.filter((one) => locations.some(({ name }) => isSold(one, name, now)));
    return [
      absent(
        type,
        "a server type of Hetzner",
        known.map(({ name }) => name),
      ),
    ];
  }
  if (!fits.includes(found)) {
    return finding(
      `Hetzner's architecture of ${value} is ${found.architecture}, but image.architecture is ${image.architecture}`,
    );
  }
  if (!isLocation || found.locations === undefined) return [];
  const sale = found.locations.find(({ name }) => name === location.value);
  const until = sale?.deprecation?.unavailable_after;
  if (sale === undefined || (until !== undefined && new Date(until) <= now)) {
    const since = until === undefined ? "" : ` since ${until.slice(0, 10)}`;
    return finding(`${value} is not sold at ${location.value}${since}, which has ${there.join(", ")}`);
  }
  if (until !== undefined) {
    return finding(`${value} is sold at ${location.value} until ${until.slice(0, 10)} only`, { isWarning: true });
  }
  if (sale.available === false) {
    return finding(`${value} is sold out at ${location.value} at the moment`, { isWarning: true });
  }
  return [];
}

function isSold({ locations = [] }: ServerType, at: string, now: Date): boolean {
  const sale = locations.find(({ name }) => name === at);
  const until = sale?.deprecation?.unavailable_after;
  return sale !== undefined && sale.available !== false && (until === undefined || new Date(until) > now);
}

function balancer({ settings, clusterName }: CheckedConfig, offer: HetznerOffer): readonly ApiFinding[] {
  const value = settings.loadBalancer?.type;
  const known = offer.loadBalancerTypes.map(({ name }) => name);
  if (value === undefined || known.includes(value)) return [];
  if (offer.loadBalancers.some(({ name }) => name === `${clusterName}-api`)) return [];
  return [absent({ path: "hetzner.loadBalancer.type", value }, "a load balancer type of Hetzner", known)];
}

function labelsOf({ settings, talosVersion, image }: CheckedConfig): Readonly<Record<string, string>> {
  const { architecture } = image;
  return settings.snapshot.labels ?? snapshotLabels({ talosVersion, schematicId: schematicId(image), architecture });
}

/** Existing servers do not need it; one that is added later does. */
function snapshots(
  config: CheckedConfig,
  { snapshot }: HetznerOffer,
  { environment, isNeeded }: Pick<ApiAccess, "environment"> & { readonly isNeeded: boolean },
): readonly ApiFinding[] {
  const { settings, image, talosVersion } = config;
  const path = "hetzner.snapshot";
  if (snapshot === undefined) {
    if (settings.snapshot.build) return [];
    const message = `no snapshot for ${image.architecture} has the labels ${labelSelector(labelsOf(config))}`;
    const remedy = `Make one: npm run snapshot -- ${environment}; or set hetzner.snapshot.build to true; or set hetzner.snapshot.labels to the labels of an existing one.`;
    return [{ code: "SLU-M101", path, message, remedy, isWarning: !isNeeded }];
  }
  const { version } = snapshot.labels;
  if (version === undefined || version === talosVersion) return [];
  const message = `the snapshot '${snapshot.description}' has the label version=${version}, but talosVersion is ${talosVersion}`;
  return [{ code: "SLU-M101", path, message, isWarning: true }];
}

/** What has a name that Hetzner allows once in a project, and is of someone else. */
function taken(
  { clusterName, nodes, settings }: CheckedConfig,
  offer: HetznerOffer,
  { recorded }: Pick<ApiAccess, "recorded">,
): readonly ApiFinding[] {
  const groups = new Set(nodes.map(({ address }) => `${clusterName}-${spreadGroup(address)}`));
  const kinds: readonly (readonly [kind: string, all: readonly Owned[], isNamed: (name: string) => boolean])[] = [
    ["network", offer.networks, (name) => name === clusterName],
    ["firewall", offer.firewalls, (name) => name === `${clusterName}-apis`],
    ["load balancer", settings.loadBalancer ? offer.loadBalancers : [], (name) => name === `${clusterName}-api`],
    ["placement group", offer.placementGroups, (name) => groups.has(name)],
  ];
  return kinds.flatMap(([kind, all, isNamed]) =>
    all.filter(({ name }) => isNamed(name)).flatMap((one) => foreign("clusterName", kind, one, clusterName, recorded)),
  );
}

function servers(
  { clusterName, nodes }: CheckedConfig,
  offer: HetznerOffer,
  access: Pick<ApiAccess, "recorded" | "isSettled">,
): readonly ApiFinding[] {
  return nodes.flatMap((node) => {
    const server = offer.servers.find(({ name }) => name === `${clusterName}-${node.name}`);
    if (server === undefined) return [];
    const path = nodeKey("name", node.name);
    if (server.labels.cluster !== clusterName) return foreign(path, "server", server, clusterName, access.recorded);
    return unrecorded({ id: `${server.id}`, title: `the server ${server.name} (id ${server.id})`, path }, access);
  });
}

/** Without the cluster's label. Where the state is not known, the label may only have been removed by hand, which `up` fixes. */
function foreign(
  path: string,
  kind: string,
  { id, name, labels }: Owned,
  cluster: string,
  recorded: ApiAccess["recorded"],
): readonly ApiFinding[] {
  if (labels.cluster === cluster || recorded?.includes(`${id}`)) return [];
  const message = `the project has a ${kind} ${name} (id ${id}) already, without the label cluster=${cluster} of this cluster`;
  return [{ code: "SLU-M122", path, message, isWarning: recorded === undefined }];
}
