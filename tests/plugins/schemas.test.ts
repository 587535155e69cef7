// The plugins are built here, the SDKs come from npm. A program that is written for the SDKs must run on these plugins
// as on the official ones: for every class and function that the program uses, or is going to use (support/planned.ts),
// the plugin has the token, and every input and output down to the last nested property has the same type, and is
// as optional as the SDK says.
// Not proven here: that the plugin does with a property what the official one does. The engine and lab tests prove that.
import { beforeAll, describe, expect, test } from "@jest/globals";
import { plugins } from "../../scripts/toolchain/tools.ts";
import { accepted } from "./support/accepted.ts";
import { type PluginSchema, pluginSchema } from "./support/pluginSchema.ts";
import { namedMembers, ownFiles, planned, usedMembers } from "./support/programUse.ts";
import { schemaShape } from "./support/schemaShape.ts";
import { loadProgram } from "./support/sdk.ts";
import { sdkShape } from "./support/sdkShape.ts";
import { differences } from "./support/shape.ts";

/** The plugins are built now if they are not built yet. */
const buildTime = 30 * 60_000;

const program = loadProgram([...ownFiles, planned]);
const used = usedMembers(program, ownFiles);
const members = [...new Map([...used, ...namedMembers(program, planned)]).values()];
const schemas = new Map<string, PluginSchema>();

beforeAll(async () => {
  for (const { name } of plugins) schemas.set(name, await pluginSchema(name));
}, buildTime);

/** Every class and function that the program uses. */
const taken = [
  "command:local:Command",
  "hcloud:index/firewall:Firewall",
  "hcloud:index/loadBalancer:LoadBalancer",
  "hcloud:index/loadBalancerNetwork:LoadBalancerNetwork",
  "hcloud:index/loadBalancerService:LoadBalancerService",
  "hcloud:index/loadBalancerTarget:LoadBalancerTarget",
  "hcloud:index/network:Network",
  "hcloud:index/networkSubnet:NetworkSubnet",
  "hcloud:index/placementGroup:PlacementGroup",
  "hcloud:index/server:Server",
  "kubernetes:apiextensions.k8s.io:CustomResource",
  "kubernetes:apps/v1:DaemonSet",
  "kubernetes:batch/v1:CronJob",
  "kubernetes:core/v1:ConfigMap",
  "kubernetes:core/v1:Namespace",
  "kubernetes:core/v1:Secret",
  "kubernetes:core/v1:ServiceAccount",
  "kubernetes:helm.sh/v3:Release",
  "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
  "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
  "kubernetes:rbac.authorization.k8s.io/v1:Role",
  "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
  "proxmoxve:download/file:File",
  "proxmoxve:index/acl:Acl",
  "proxmoxve:index/poolLegacy:PoolLegacy",
  "proxmoxve:index/roleLegacy:RoleLegacy",
  "proxmoxve:index/userLegacy:UserLegacy",
  "proxmoxve:index/vmLegacy:VmLegacy",
  "proxmoxve:user/token:Token",
  "pulumi:providers:hcloud",
  "pulumi:providers:kubernetes",
  "pulumi:providers:proxmoxve",
  "talos:client/getConfiguration:getConfiguration",
  "talos:cluster/kubeconfig:Kubeconfig",
  "talos:machine/getConfiguration:getConfiguration",
  "talos:machine/secrets:Secrets",
];

test("the program uses exactly these parts of the SDKs", () => {
  expect([...used.keys()].sort()).toEqual(taken);
});

test("nothing is planned that is already used", () => {
  expect([...namedMembers(program, planned).keys()].filter((token) => used.has(token))).toEqual([]);
});

describe("the built plugin has everything that the SDK has", () => {
  test.each(members.map((member) => [member.token, member] as const))("%s", (token, member) => {
    const schema = schemas.get(member.plugin);
    const plugin = schema && schemaShape(schema, token);
    if (plugin === undefined) throw new Error(`the plugin ${member.plugin} does not know ${token}`);
    const known = accepted.filter((one) => one.token === token).map(({ difference }) => difference);
    expect(differences(sdkShape(program, member), plugin)).toEqual(known);
  });
});

test("every accepted difference concerns something that is compared", () => {
  const compared = members.map(({ token }) => token);
  expect(accepted.filter(({ token }) => !compared.includes(token))).toEqual([]);
});
