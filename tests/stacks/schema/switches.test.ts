import { expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { type Switch, switches, switchStates } from "../../../stacks/schema/switches.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

const home = switchStates(parseClusterConfig(rawConfig("home")));

test("S2.2 the switches of the home cluster follow its configuration", () => {
  expect(home).toEqual({
    aggregatorRouting: true,
    ciliumHostDNS: true,
    disableSearchDomain: true,
    forwardKubeDNSToHost: true,
    hostDNS: true,
    logShipping: false,
    resolveMemberNames: true,
    secureBoot: false,
    staticAddressing: true,
    vip: true,
    vlan: false,
  });
});

test.each<[Switch, string, unknown]>([
  ["aggregatorRouting", "machine", { apiServer: { aggregatorRouting: false } }],
  ["ciliumHostDNS", "machine", { ciliumHostDNS: false }],
  ["disableSearchDomain", "network.disableSearchDomain", false],
  ["logShipping", "machine", { logShipping: { enabled: true } }],
  ["resolveMemberNames", "machine", { hostDNS: { resolveMemberNames: false } }],
  ["secureBoot", "image.secureBoot", true],
  ["staticAddressing", "network.addressing", "dhcp"],
  ["vlan", "network.vlan", { tag: 20, mode: "access" }],
])("S2.2 the switch %s follows its key alone", (name, path, value) => {
  const states = switchStates(parseClusterConfig(changed(rawConfig("home"), path, value)));
  expect(states).toEqual({ ...home, [name]: !home[name] });
});

test("S2.2 ciliumHostDNS follows forwardKubeDNSToHost if it is not set itself", () => {
  const config = changed(rawConfig("home"), "machine", { hostDNS: { forwardKubeDNSToHost: false } });
  const states = switchStates(parseClusterConfig(config));
  expect(states).toEqual({ ...home, forwardKubeDNSToHost: false, ciliumHostDNS: false });
});

test("S2.2 every switch may be named by a patch", () => {
  const patches = Object.keys(switches).map((when) => ({ name: when.toLowerCase(), when, patch: { machine: {} } }));
  expect(parseClusterConfig({ ...rawConfig("home"), patches }).patches.map(({ when }) => when)).toEqual(
    Object.keys(switches),
  );
});
