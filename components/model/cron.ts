// Cron expressions as Kubernetes reads them: minute, hour, day of the month, month, day of the week.

interface Field {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] },
  { least: 0, most: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** When something is due, in UTC. */
export interface Cron {
  /** Whether it is due on the day of this moment at all. */
  isDay(moment: Date): boolean;
  /** When it is due on such a day, in minutes since midnight. */
  readonly minutes: readonly number[];
}

/** Undefined if the text is no cron expression. */
export function readCron(text: string): Cron | undefined {
  const parts = (macros[text.trim()] ?? text).trim().split(/\s+/);
  if (parts.length !== fields.length) return undefined;
  const read = parts.map((part, place) => valuesOf(part, fields[place] as Field));
  if (read.some((values) => values === undefined)) return undefined;
  const [minutes, hours, days, months, weekdays] = read as [Values, Values, Values, Values, Values];
  const [, , day = "*", , weekday = "*"] = parts;
  const isAny = (part: string) => part.startsWith("*") || part.startsWith("?");
  return {
    isDay(moment) {
      const isDate = days.has(moment.getUTCDate());
      const isWeekday = weekdays.has(moment.getUTCDay());
      // If both are restricted, one of them is enough.
      const isToday = isAny(day) || isAny(weekday) ? isDate && isWeekday : isDate || isWeekday;
      return isToday && months.has(moment.getUTCMonth() + 1);
    },
    minutes: [...hours].flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute)).sort((a, b) => a - b),
  };
}

type Values = ReadonlySet<number>;

function valuesOf(part: string, field: Field): Values | undefined {
  const values = new Set<number>();
  for (const one of part.split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d+))?$/.exec(one) ?? [];
    const ends = endsOf(range, field, step !== undefined);
    const stride = Number(step ?? 1);
    if (ends === undefined || stride < 1) return undefined;
    for (let value = ends[0]; value <= ends[1]; value += stride) values.add(value);
  }
  return values;
}

function endsOf(
  range: string,
  { least, most, names = [] }: Field,
  hasStep: boolean,
): readonly [number, number] | undefined {
  if (range === "*" || range === "?") return [least, most];
  const [first, last, ...more] = range.split("-").map((text) => {
    const place = names.indexOf(text.toLowerCase());
    if (place >= 0) return least + place;
    return /^\d+$/.test(text) ? Number(text) : Number.NaN;
  });
  const from = first ?? Number.NaN;
  // `5/15` runs from 5 to the end.
  const to = last ?? (hasStep ? most : from);
  return more.length === 0 && from >= least && to <= most && from <= to ? [from, to] : undefined;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The longest time between two due moments within the year from the day of `start` on; undefined if there are not two. */
export function longestPauseMs({ isDay, minutes }: Cron, start: Date): number | undefined {
  const first = Math.floor(start.getTime() / dayMs) * dayMs;
  const midnights = Array.from({ length: 367 }, (_, day) => first + day * dayMs).filter((at) => isDay(new Date(at)));
  const moments = midnights.flatMap((midnight) => minutes.map((minute) => midnight + minute * minuteMs));
  const pauses = moments.slice(1).map((moment, place) => moment - (moments[place] ?? moment));
  return pauses.length === 0 ? undefined : Math.max(...pauses);
}
