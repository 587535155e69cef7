/** An API did not answer, or its answer has an unexpected form. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  /** Whether another attempt may succeed. */
  readonly retryable: boolean;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
    // A success status without a usable answer comes from a proxy, not from the API.
    const isRefusal = status !== undefined && status >= 300 && status < 500 && status !== 429;
    this.retryable = !isRefusal;
  }
}

export function isRetryableApiError(error: unknown): boolean {
  return error instanceof ApiError && error.retryable;
}
