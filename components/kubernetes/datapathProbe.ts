// Pods that prove the network of every node: each connects from the pod network to the API, by its Service address.
import type { DaemonSet } from "./objects.ts";

/** Name of the DaemonSet. */
export const datapathProbe = "sluice-datapath-probe";
/** The init container that connects. */
export const connectContainer = "connect";
/** The namespace of Cilium: Talos exempts it from Pod Security, although the pods would be allowed anywhere. */
export const datapathNamespace = "kube-system";
/** Seconds within which the connection must be established. */
export const connectSeconds = 5;
/** The exit code of `timeout` for a command that took longer. */
export const timedOut = 124;

/** Where the pods on each node are. */
export const datapathPods = `/api/v1/namespaces/${datapathNamespace}/pods?labelSelector=app.kubernetes.io%2Fname%3D${datapathProbe}`;

/**
 * A pod on every node, with the image of the agent, which every node has already. It connects with bash: the image has no program for HTTP, and an
 * established connection has passed the datapath in both directions. The kubelet sets the variables, with the Service's address, in every container.
 */
export function datapathDaemonSet(agent: DaemonSet): object {
  const labels = { "app.kubernetes.io/name": datapathProbe, "app.kubernetes.io/managed-by": "sluice" };
  const { containers, imagePullSecrets } = agent.spec.template.spec;
  const [{ image } = { image: "" }] = containers;
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
  };
  const connect = ": < /dev/tcp/$KUBERNETES_SERVICE_HOST/$KUBERNETES_SERVICE_PORT";
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: datapathProbe, labels },
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/name": datapathProbe } },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 0,
          // On nodes that are cordoned, or not Ready yet, too.
          tolerations: [{ operator: "Exists" }],
          securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: "RuntimeDefault" } },
          ...(imagePullSecrets !== undefined && { imagePullSecrets }),
          initContainers: [
            {
              name: connectContainer,
              image,
              command: ["timeout", `${connectSeconds}`, "bash", "-c", connect],
              terminationMessagePolicy: "FallbackToLogsOnError",
              securityContext,
            },
          ],
          containers: [{ name: "connected", image, command: ["sleep", "infinity"], securityContext }],
        },
      },
    },
  };
}
