// All durations of an environment are defined here, so that each has its unit in messages and in the documentation.
import { z } from "zod";

/** A number of seconds or days. A whole number, unless `number` is a schema that accepts fractions. */
export function duration(unit: "seconds" | "days", least: number, number: z.ZodNumber = z.int()) {
  const words = least === 1 ? unit.replace(/s$/, "") : unit;
  return number
    .min(least, `must be ${least} ${words} or more`)
    .max(longest[unit], `must be ${longest[unit]} ${unit} at most${unit === "seconds" ? ", and not milliseconds" : ""}`)
    .meta({ unit });
}

/** Longer ones are mistakes: four hours, a year. */
const longest = { seconds: 14_400, days: 365 } as const;

/** A duration that is handed to a program which reads it in Go's notation. */
export const goDuration = z
  .string()
  .regex(/^([1-9]\d*h)?([1-9]\d*m)?([1-9]\d*s)?$/, "must be a duration such as 30s, 1m or 1h30m")
  .min(1)
  .meta({ form: "duration such as `30s`, `1m` or `1h30m`" });
