import { expect, test } from "@jest/globals";
import { protectionAdvice } from "../../../scripts/stack/protection.ts";

const secrets = { type: "talos:machine/secrets:Secrets", custom: true, protect: true };
const component = { type: "sluice:machines:HetznerMachines", custom: false, protect: true };
const server = { type: "hcloud:index/server:Server", custom: true, protect: true };
const unprotected = { type: "hcloud:index/network:Network", custom: true };
const update = "set protect to false in Pulumi.mine.yaml, 'npm run up -- mine'";
const unprotect = "'npm run pulumi -- state unprotect --all --yes --stack mine'";

test.each([
  ["an update, which the cloud needs too, where there are machines", [secrets, component, server], update],
  ["the state alone where an update never got as far as machines", [secrets, component], unprotect],
  ["the state alone where only secrets are protected", [secrets], unprotect],
])("S5.3 a protected environment is destroyed after a change of %s", (_, resources, step) => {
  const advice = protectionAdvice("mine", { deployment: { resources } });
  expect(advice).toBe(`mine is protected. To destroy it: ${step}, then 'npm run destroy -- mine'`);
});

test("an environment that is not protected gets no advice", () => {
  expect(protectionAdvice("mine", { deployment: { resources: [unprotected] } })).toBeUndefined();
});
