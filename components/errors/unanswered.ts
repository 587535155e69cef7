/** Why a call by HTTP had no answer. What fetch throws says the cause one level down. */
export function unanswered(error: unknown, deadline: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `nothing within ${deadline} s`;
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
