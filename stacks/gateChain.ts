// Adds gates to the chain: between the stages that they prove and those that wait for them.
import * as pulumi from "@pulumi/pulumi";
import type { OptionalPart } from "../components/gates/clusterFacts.ts";
import { Gate } from "../components/gates/gate.ts";
import type { GateDefinition } from "../components/gates/gateDefinition.ts";
import { findGate } from "../components/gates/registry.ts";
import { StableGates } from "../components/gates/stableGates.ts";
import { clusterParts } from "./parts/clusterParts.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

/** The resources that a stage or a gate waits for. */
export type After = readonly pulumi.Resource[];

/** The evidence of a gate that opened, and the seconds that it waited. */
export interface GateReport {
  readonly evidence: pulumi.Output<Record<string, unknown>>;
  readonly waited: pulumi.Output<number>;
}

/** The facts that a gate needs. The facts of an optional part are missing if the part is. */
type Known<Facts> = {
  readonly [Fact in keyof Facts]: Fact extends OptionalPart ? Facts[Fact] | undefined : Facts[Fact];
};

export interface GateChain {
  /** Adds a gate after what it proves. Returns what the next stage waits for: the gate, or `after` if the cluster has no such gate. */
  gate<Facts>(gate: GateDefinition<object, unknown, Facts>, facts: Known<Facts>, after: After): After;
  /** Ends the chain, once every gate has stayed open for its stability window. */
  end(): void;
  /** By the names of the added gates. */
  readonly reports: Readonly<Record<string, GateReport>>;
}

export function gateChain(config: ClusterConfig): GateChain {
  const { clusterName, timeouts, stableSeconds, stallSeconds, strict } = config;
  const parts = clusterParts(config);
  const reports: Record<string, GateReport> = {};
  const all: Gate[] = [];
  const openings: Record<string, pulumi.Output<string>> = {};
  return {
    reports,
    gate<Facts>(gate: GateDefinition<object, unknown, Facts>, known: Known<Facts>, after: After) {
      const { name, resource, part, timeout, canFlap } = gate;
      if (part !== undefined && !parts[part]) return after;
      const facts = known as Facts; // if the part exists, so do its facts
      const { values, areKept = false } = gate.secretTriggers?.(facts) ?? {};
      const made = new Gate(
        gate,
        `${clusterName}-${resource}`,
        {
          inputs: gate.inputs(facts),
          credentials: gate.credentials(facts),
          settings: {
            deadlineSeconds: (timeouts as Readonly<Record<string, number>>)[timeout.key] ?? timeout.seconds,
            stableSeconds: canFlap ? stableSeconds : 0,
            stallSeconds,
            isStrict: strict,
          },
          triggers: gate.triggers(facts),
          ...(values !== undefined && { secretTriggers: values }),
        },
        // A preview may run without credentials: its placeholder does not count as a changed secret.
        { dependsOn: [...after], ignoreChanges: areKept ? ["secretTriggers"] : [] },
      );
      all.push(made);
      openings[resource] = made.opening;
      // The gate on the first control plane's own API is not reported: only the first stages use that address.
      if (findGate(name)?.resource === resource)
        reports[name] = { evidence: made.evidence, waited: made.waitedSeconds };
      return [made];
    },
    end: () => void new StableGates(`${clusterName}-stable`, { openings: known(openings) }, { dependsOn: all }),
  };
}

/** Without the gates of a state that an earlier version wrote, until they run again. */
function known(openings: Readonly<Record<string, pulumi.Output<string>>>) {
  return pulumi
    .all(openings)
    .apply((all) => Object.fromEntries(Object.entries(all).filter(([, opening]) => opening !== "")));
}
