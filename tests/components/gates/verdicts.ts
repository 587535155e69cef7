import type { GateDefinition } from "../../../components/gates/gateDefinition.ts";

/** All that a gate says of an observation, a line for each verdict: how it is, where, and why. */
export function verdicts<Inputs, Observation>(
  gate: GateDefinition<Inputs, Observation>,
  inputs: Inputs,
  observation: Observation,
): readonly string[] {
  return gate.conditions(inputs).flatMap(({ evaluate }) =>
    evaluate(observation).map((verdict) => {
      if (verdict.kind === "ok") return "ok";
      const code = verdict.kind === "failed" ? ` ${verdict.code}` : "";
      return `${verdict.kind}${code} ${verdict.where}: ${verdict.reason}`;
    }),
  );
}
