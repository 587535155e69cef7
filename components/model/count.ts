/** "1 node", "3 nodes". */
export function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? "" : "s"}`;
}
