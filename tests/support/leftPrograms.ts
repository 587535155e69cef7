// Runs separately: in a test runner, a program that fails late also ends the runner. Deploys environments in which everything in the cluster was left
// unchanged, and prints what exists and what fails.
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { type MockOptions, record } from "./mocks.ts";
import { platformMocks } from "./platformMocks.ts";
import { type Base, changed, rawConfig } from "./rawConfig.ts";

const flux = { url: "https://git.example.org/home.git" };
const environments: readonly (readonly [Base, Readonly<Record<string, unknown>>])[] = [
  ["cloud", { flux }],
  ["home", { flux, services: { announce: "cilium", addresses: ["10.0.1.0/30"] } }],
  [
    "existing",
    {
      flux,
      "network.vip": "10.0.0.20",
      "network.vipBy": "kube-vip",
      services: { announce: "kube-vip", addresses: ["10.0.0.128/30"] },
      fluxGitPassword: "geheim-1",
      sopsAgeKey: `AGE-SECRET-KEY-1${"0".repeat(58)}`,
    },
  ],
];

/** The previous state: with the object's name, and none of the requested values. What is missing in a state, the SDK takes from the inputs. */
function before(inputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { metadata = {}, ...others } = inputs as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const old = Object.entries(others).map(([key, value]): [string, unknown] => {
    if (typeof value !== "object") return [key, key === "version" ? "0.0.1" : value];
    return [key, Array.isArray(value) ? [] : {}];
  });
  const { name, namespace } = metadata;
  return { ...Object.fromEntries(old), metadata: { name, namespace }, data: { old: "Z2VoZWltLTI=" } };
}

function options(isLeft: boolean, preview: boolean): MockOptions {
  return {
    ...platformMocks,
    preview,
    state: (resource) => {
      const { type, inputs } = resource;
      if (type.startsWith("kubernetes:")) return isLeft ? before(inputs) : inputs;
      return platformMocks.state?.(resource) ?? inputs;
    },
  };
}

let failed: string[] = [];
// An output has several promises, and each rejects with the same error.
process.on("unhandledRejection", (error: Error) => {
  if (!failed.includes(error.message)) failed.push(error.message);
});

const told: unknown[] = [];
for (const [base, changes] of environments) {
  const raw = Object.entries(changes).reduce((config, [path, to]) => changed(config, path, to), rawConfig(base));
  const config = parseClusterConfig(raw);
  const outcome = async (isLeft: boolean, preview = false) => {
    failed = [];
    const { resources } = await record(() => deployCluster(config), options(isLeft, preview));
    // A late failure may come after everything else has ended.
    for (let turns = 0; turns < 300; turns += 1) await new Promise((done) => setImmediate(done));
    const inCluster = resources.filter(({ type }) => type.startsWith("kubernetes:"));
    return { made: inCluster.map(({ type }) => type.split(":").at(-1)), failed };
  };
  told.push({ base, asAsked: await outcome(false), left: await outcome(true), preview: await outcome(true, true) });
}
console.log(JSON.stringify(told));
