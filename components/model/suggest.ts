import { distance } from "fastest-levenshtein";

/** The known word that was probably meant, or undefined if none is similar: one typing error in a short word, one more for every three letters. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, slips: slips(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, slips }) => slips <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.slips - b.slips);
  return ranked[0]?.candidate;
}

/** The known word that this one is almost certainly a misspelling of: at most two slips, or one in a short word. */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  const limit = word.length < 6 ? 1 : 2;
  return known.includes(word)
    ? undefined
    : known.find((candidate) => slips(word.toLowerCase(), candidate.toLowerCase()) <= limit);
}

/** ` - did you mean 'x'?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = suggest(word, known);
  return meant === undefined ? "" : ` - did you mean '${meant}'?`;
}

/** The number of letters to insert, delete or replace. Two swapped neighbours count as one: short words may have only one error. */
function slips(from: string, to: string): number {
  const first = [...from].findIndex((letter, index) => letter !== to[index]);
  const swapped = from.slice(0, first) + from.charAt(first + 1) + from.charAt(first) + from.slice(first + 2);
  return first >= 0 && swapped === to ? 1 : distance(from, to);
}
