import { describe, expect, test } from "@jest/globals";
import { schematicId } from "../../../components/images/schematic.ts";
import { snapshotLabels } from "../../../components/images/snapshotLabels.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { type CheckedConfig, hetznerFindings } from "../../../stacks/platforms/hetznerCheck.ts";
import type { HetznerOffer } from "../../../stacks/platforms/hetznerOffer.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

const now = new Date("2026-11-20T00:00:00Z");
const sold = (...names: string[]) => names.map((name) => ({ name, available: true, deprecation: null }));
const until = (name: string, unavailable_after: string) => ({
  ...{ name, available: true },
  deprecation: { announced: "2025-10-16T06:00:00Z", unavailable_after },
});
const type = (
  name: string,
  architecture: string,
  locations: HetznerOffer["serverTypes"][number]["locations"] = [],
) => ({
  ...{ name, architecture, locations },
});
const europe = ["fsn1", "nbg1", "hel1"];

function configOf(changes: Readonly<Record<string, unknown>> = {}): CheckedConfig {
  const raw = Object.entries(changes).reduce((all, [path, value]) => changed(all, path, value), rawConfig("cloud"));
  return parseClusterConfig(raw) as unknown as CheckedConfig;
}

const { talosVersion, image } = configOf();
const labels = snapshotLabels({ talosVersion, schematicId: schematicId(image), architecture: image.architecture });

/** A new project, as the API answered in November 2026, as far as it matters here. */
const project: HetznerOffer = {
  locations: [
    ...europe.map((name) => ({ name, network_zone: "eu-central" })),
    { name: "ash", network_zone: "us-east" },
    { name: "muc1", network_zone: "eu-south" },
  ],
  serverTypes: [
    type("cx33", "x86", sold(...europe)),
    type("cx43", "x86", sold("nbg1", "hel1", "fsn1")),
    type("cx53", "x86", sold(...europe)),
    type("cpx31", "x86", [...sold("ash"), until("fsn1", "2025-12-31T23:59:59Z")]),
    type("cpx41", "x86", [until("fsn1", "2027-01-31T23:59:59Z")]),
    type("cpx51", "x86", [{ name: "fsn1", available: false, deprecation: null }]),
    type("ccx13", "x86", sold("ash")),
    type("ccx99", "arm", sold(...europe)),
  ],
  loadBalancerTypes: [{ name: "lb11" }, { name: "lb21" }],
  snapshot: { id: "1", description: "Talos", labels },
  ...{ servers: [], networks: [], firewalls: [], loadBalancers: [], placementGroups: [] },
};

const owned = (id: number, name: string, cluster?: string) => ({ id, name, labels: cluster ? { cluster } : {} });
const server = (id: number, name: string, serverType: string, location: string, cluster?: string) => ({
  ...owned(id, name, cluster),
  ...{ server_type: { name: serverType }, location: { name: location } },
});
/** All servers of the environment, made when their types were sold. */
const deployed = configOf().nodes.map(({ name, role, location, serverType }, index) =>
  server(index, `cloud-${name}`, serverType ?? (role === "worker" ? "cx43" : "cx33"), location ?? "fsn1", "cloud"),
);

interface Known {
  readonly recorded?: readonly string[] | undefined;
  readonly isSettled?: boolean;
}

function found(
  changes: Readonly<Record<string, unknown>>,
  offer: Partial<HetznerOffer> = {},
  known: Known = { recorded: [] },
): readonly string[] {
  const access = { isSettled: false, environment: "cloud", ...known };
  return hetznerFindings(configOf(changes), { ...project, ...offer }, access, now).map(
    ({ code, path, message, isWarning }) => `${isWarning === true ? "warning " : ""}${code} ${path}: ${message}`,
  );
}

describe("what Hetzner offers", () => {
  test.each<[what: string, changes: Readonly<Record<string, unknown>>, expected: readonly string[]]>([
    ["everything", {}, []],
    [
      "no such server type, which the list in Sluice treats as newer",
      { "hetzner.serverTypes": { worker: "cx44" } },
      ["SLU-M121 hetzner.serverTypes.worker: 'cx44' is not a server type of Hetzner - did you mean 'cx43'?"],
    ],
    [
      "no such server type of one node",
      { "nodes[5].serverType": "ccx63" },
      ["SLU-M121 nodes[].serverType (w-3): 'ccx63' is not a server type of Hetzner - did you mean 'ccx13'?"],
    ],
    [
      "a server type elsewhere only",
      { "nodes[3].serverType": "ccx13" },
      ["SLU-M121 nodes[].serverType (w-1): ccx13 is not sold at fsn1, which has cx33, cx43, cx53, cpx41"],
    ],
    [
      "a server type no longer",
      { "nodes[3].serverType": "cpx31" },
      [
        "SLU-M121 nodes[].serverType (w-1): cpx31 is not sold at fsn1 since 2025-12-31, which has cx33, cx43, cx53, cpx41",
      ],
    ],
    [
      "a server type for some weeks more",
      { "nodes[3].serverType": "cpx41" },
      ["warning SLU-M121 nodes[].serverType (w-1): cpx41 is sold at fsn1 until 2027-01-31 only"],
    ],
    [
      "none of a server type at the moment",
      { "nodes[3].serverType": "cpx51" },
      ["warning SLU-M121 nodes[].serverType (w-1): cpx51 is sold out at fsn1 at the moment"],
    ],
    [
      "a server type of another architecture",
      { "nodes[3].serverType": "ccx99" },
      ["SLU-M121 nodes[].serverType (w-1): Hetzner's architecture of ccx99 is arm, but image.architecture is amd64"],
    ],
    [
      "no such location",
      { "nodes[3].location": "fsn2" },
      ["SLU-M121 nodes[].location (w-1): 'fsn2' is not a location of Hetzner - did you mean 'fsn1'?"],
    ],
    [
      "a location that is newer than the list in Sluice, in another zone",
      { "nodes[3].location": "muc1" },
      [
        "SLU-M121 nodes[].location (w-1): muc1 is in network zone eu-south, but hetzner.networkZone is eu-central",
        "SLU-M121 hetzner.serverTypes.worker: cx43 is not sold at muc1, which has ",
      ],
    ],
    [
      "no such load balancer type",
      { "hetzner.loadBalancer.type": "lb99" },
      ["SLU-M121 hetzner.loadBalancer.type: 'lb99' is not a load balancer type of Hetzner: it has lb11, lb21"],
    ],
  ])("S6.1 is compared with what an environment names: %s", (_, changes, expected) => {
    expect(found(changes)).toEqual(expected);
  });

  test("S6.1 is named completely in one failure, each setting once", () => {
    const wrong = {
      "hetzner.serverTypes": { worker: "cx99" },
      "nodes[0].location": "fsn2",
      "hetzner.loadBalancer.type": "lb41",
    };
    expect(found(wrong, { snapshot: undefined }).map((line) => line.split(":")[0])).toEqual([
      "SLU-M121 nodes[].location (cp-1)",
      "SLU-M121 hetzner.serverTypes.worker",
      "SLU-M121 hetzner.loadBalancer.type",
      "SLU-M101 hetzner.snapshot",
    ]);
  });

  test("S6.1 matters only for servers that are to be created or changed", () => {
    const gone = { servers: deployed, serverTypes: [] };
    const recorded = deployed.map(({ id }) => `${id}`);
    expect(found({}, gone, { recorded })).toEqual([]);
    expect(found({ "nodes[3].serverType": "cx99" }, gone, { recorded })).toEqual([
      "SLU-M121 nodes[].serverType (w-1): 'cx99' is not a server type of Hetzner: it has ",
    ]);
    expect(found({}, { ...gone, snapshot: undefined }, { recorded })).toEqual([
      expect.stringMatching(/^warning SLU-M101 hetzner\.snapshot: no snapshot/),
    ]);
    // Another location is another server, which needs the snapshot.
    expect(found({ "nodes[3].location": "hel1" }, { servers: deployed, snapshot: undefined }, { recorded })).toEqual([
      expect.stringMatching(
        /^SLU-M101 hetzner\.snapshot: no snapshot for amd64 has the labels architecture=amd64,os=talos,/,
      ),
    ]);
  });
});

describe("the snapshot", () => {
  test("S0.1 that is missing is reported with the command that makes it, unless Sluice makes it", () => {
    const known = { environment: "mine", recorded: [], isSettled: false };
    const [finding] = hetznerFindings(configOf(), { ...project, snapshot: undefined }, known, now);
    expect(finding).toMatchObject({ code: "SLU-M101", remedy: expect.stringContaining("npm run snapshot -- mine;") });
    expect(found({ "hetzner.snapshot": { build: true } }, { snapshot: undefined })).toEqual([]);
  });

  test("S0.1 that is chosen by other labels and is of another Talos is a warning", () => {
    const snapshot = { id: "1", description: "old", labels: { version: "1.12.6" } };
    expect(found({ "hetzner.snapshot": { labels: { mine: "yes" } } }, { snapshot })).toEqual([
      "warning SLU-M101 hetzner.snapshot: the snapshot 'old' has the label version=1.12.6, but talosVersion is 1.13.8",
    ]);
  });
});

describe("what has the name of something that is to be created", () => {
  const foreign = {
    servers: [server(7, "cloud-cp-1", "cx33", "fsn1")],
    networks: [owned(8, "cloud", "other")],
    firewalls: [owned(9, "cloud-apis")],
    loadBalancers: [owned(10, "cloud-api")],
    placementGroups: [owned(11, "cloud-spread-10-0-1-10"), owned(12, "cloud-spread-10-0-9-10")],
  };
  const names = ["network cloud (id 8)", "firewall cloud-apis (id 9)", "load balancer cloud-api (id 10)"];
  const all = [...names, "placement group cloud-spread-10-0-1-10 (id 11)", "server cloud-cp-1 (id 7)"];
  const line = (what: string) =>
    `SLU-M122 ${what.startsWith("server") ? "nodes[].name (cp-1)" : "clusterName"}: the project has a ${what} already, without the label cluster=cloud of this cluster`;

  test("S6.1 is refused if it is of someone else", () => {
    expect(found({}, foreign)).toEqual(all.map(line));
  });

  test("S6.1 is allowed if it is in the state: a label that was removed by hand is drift", () => {
    expect(found({}, foreign, { recorded: ["7", "8", "9", "10", "11"] })).toEqual([]);
  });

  test("S6.1 is only a warning for a command that does not know the state", () => {
    expect(found({}, foreign, { recorded: undefined })).toEqual(all.map((one) => `warning ${line(one)}`));
  });

  test("S5.3 with this cluster's mark may be of an earlier run, until what that left has been adopted", () => {
    const servers = [server(7, "cloud-cp-1", "cx33", "fsn1", "cloud")];
    const message =
      "SLU-M122 nodes[].name (cp-1): the server cloud-cp-1 (id 7) has the mark of this cluster and is in no state";
    expect(found({}, { servers })).toEqual([`warning ${message}: 'up' adopts it if an earlier run left it`]);
    expect(found({}, { servers }, { recorded: [], isSettled: true })).toEqual([message]);
  });
});
