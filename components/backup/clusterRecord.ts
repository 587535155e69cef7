// What a backup records of the nodes, as they answer at that moment.
import { sha256 } from "../model/contentHash.ts";
import { readTraits } from "../talos/access/machineTraits.ts";
import { type NodeAccess, using } from "../talos/access/nodeAccess.ts";
import { lookAt, runningConfig } from "../talos/access/nodeResources.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { Clock } from "../waiting/clock.ts";
import { resultWithin } from "../waiting/deadline.ts";
import type { BackedUpNode } from "./manifest.ts";

/** Seconds in which a node has to answer all questions: what it does not answer is not recorded. */
const askSeconds = 5;

export interface AskedNode extends Pick<BackedUpNode, "name" | "role" | "address"> {
  readonly talosAddress: string;
}

/** Never rejects. */
export async function recordNodes(
  nodes: readonly AskedNode[],
  credentials: TalosCredentials,
  { access, clock }: { readonly access: NodeAccess; readonly clock: Clock },
): Promise<readonly BackedUpNode[]> {
  const options = { deadlineSeconds: askSeconds };
  return await Promise.all(
    nodes.map(async ({ talosAddress, name, role, address }): Promise<BackedUpNode> => {
      const asked = using(access.configured(talosAddress, credentials), async (client) => {
        const [{ version, schematic }, { uuid }, config] = await Promise.all([
          lookAt(client, options),
          readTraits(client),
          runningConfig(client, options),
        ]);
        const configHash = config === undefined ? {} : { configHash: sha256(config) };
        return { talosVersion: version, schematic, uuid, ...configHash };
      });
      return { name, role, address, ...(await resultWithin(clock, askSeconds * 1000, asked)) };
    }),
  );
}
