import { expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { kubernetesProvider } from "../../../components/platform/kubernetesProvider.ts";
import { record } from "../../support/mocks.ts";

test("U2 U3 S5.2 the provider of what is in the cluster has no timeout of its own, which Helm would have too; previews and refreshes tolerate a cluster that is gone, and its resources stay in the state", async () => {
  const kubeconfig = pulumi.secret("the kubeconfig");
  const { resources } = await record(() => kubernetesProvider("home", { kubeconfig, clusterIdentifier: "abc" }));
  expect(resources.map(({ type, name, inputs }) => ({ type, name, inputs }))).toEqual([
    {
      type: "pulumi:providers:kubernetes",
      name: "home",
      inputs: {
        kubeconfig: { secret: "the kubeconfig" },
        clusterIdentifier: "abc",
        skipUpdateUnreachable: "true",
        deleteUnreachable: "false",
        enableSecretMutable: "true",
      },
    },
  ]);
});
