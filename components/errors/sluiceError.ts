import type { FailureCode } from "./catalogue.ts";
import { format } from "./format.ts";

/** One unmet expectation. */
export interface Finding {
  /** Its entry in the catalogue, with the cause and the remedy. A finding that only accompanies a failure has none. */
  readonly code?: FailureCode | undefined;
  /** What was expected, as a phrase: "kubelet to be healthy". */
  readonly what?: string | undefined;
  /** The node, or the object in Kubernetes or in the cloud. */
  readonly where?: string | undefined;
  /** What was observed, in the words of the node or the API, secrets masked. */
  readonly seen?: string | undefined;
  /** The last lines of the log that says more, secrets masked. */
  readonly log?: string | undefined;
  /** How long it was so. */
  readonly forSeconds?: number | undefined;
  /** What to do, if more is known than the catalogue contains. */
  readonly remedy?: string | undefined;
}

export interface ErrorDetails extends Finding {
  /** What failed, after the title: "gate Etcd did not open within 300 s". */
  readonly subject?: string | undefined;
  /** Whether another attempt may succeed. Default false. */
  readonly retryable?: boolean | undefined;
  /** Further findings. If there are any, each is one line, this one included. */
  readonly others?: readonly Finding[] | undefined;
  readonly cause?: unknown;
}

/** An error of an API: what to show the user, and whether a retry makes sense. */
export type ClassifiedError = ErrorDetails & {
  readonly code: FailureCode;
  readonly seen: string;
  readonly retryable: boolean;
};

/** Every failure that Sluice reports itself. The engine prints only its message, so the message contains everything. */
export class SluiceError extends Error {
  override readonly name = "SluiceError";
  readonly details: ErrorDetails;

  constructor(details: ErrorDetails) {
    super(format(details), { cause: details.cause });
    this.details = details;
  }

  get code(): FailureCode | undefined {
    return this.details.code;
  }

  get seen(): string {
    return this.details.seen ?? "";
  }

  get retryable(): boolean {
    return this.details.retryable ?? false;
  }

  /** The same error, with details that only the caller that made the attempts knows. */
  with(more: Partial<ErrorDetails>): SluiceError {
    return new SluiceError({ ...this.details, ...more });
  }
}
