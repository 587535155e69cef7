/** All gates in the order of the chain. Written down here, and not taken from what is tested. */
export const gates = [
  "Preflight",
  "Stages",
  "Etcd",
  "TalosServices",
  "KubernetesApi",
  "NodesJoined",
  "CiliumReady",
  "NodesReady",
  "CsiReady",
  "SealedSecretsReady",
  "GitOpsReady",
];
