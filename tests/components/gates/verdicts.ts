import type { GateCheck } from "../../../components/gates/gateDefinition.ts";

/** All verdicts of a gate on an observation, a line for each: kind, node or object, and reason. */
export function verdicts<Inputs, Observation>(
  gate: GateCheck<Inputs, Observation>,
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
