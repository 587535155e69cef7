// What a state has of a cluster's nodes, with what is needed to ask them.

import type { Role } from "../../components/model/role.ts";
import { record, text } from "../../components/model/untyped.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { plainValue, resourcesIn } from "../stack/exported.ts";
import { nodeTypes } from "../summary/state/stackState.ts";

/** A node that got its config. */
export interface DeployedNode {
  readonly name: string;
  readonly role: Role;
  readonly talosAddress: string;
  readonly address: string;
  readonly credentials: TalosCredentials;
  /** The schematic of the image that its machine was made from, where that may be another than the installer's. */
  readonly imageSchematic?: string | undefined;
  /** The one that it was sent. Secret. */
  readonly machineConfiguration: string;
}

/** Control planes first. */
function inOrder(one: DeployedNode, other: DeployedNode): number {
  return one.role.localeCompare(other.role) || one.name.localeCompare(other.name, "en", { numeric: true });
}

/** From what `pulumi stack export --show-secrets` prints, also while an `up` changes it. */
export function deployedNodes(exported: unknown): readonly DeployedNode[] {
  return resourcesIn(exported)
    .filter(({ type }) => nodeTypes.includes(text(type)))
    .map(({ outputs }): DeployedNode => {
      const { node, role, talosAddress, endpoint, address, credentials, machineConfiguration, imageSchematic } =
        record(outputs);
      return {
        name: text(node),
        role: role === "controlplane" ? "controlplane" : "worker",
        talosAddress: text(talosAddress ?? endpoint),
        address: text(address),
        credentials: plainValue(credentials) as TalosCredentials,
        machineConfiguration: text(plainValue(machineConfiguration)),
        ...(typeof imageSchematic === "string" && { imageSchematic }),
      };
    })
    .toSorted(inOrder);
}
