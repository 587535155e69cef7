import type { FailureCode } from "./catalogue.ts";

/** All that a person needs of a failure: what, where, what was seen, since when, what to do. */
export interface FailureDetails {
  /** Its entry in the catalogue, which has the cause and the remedy. */
  readonly code: FailureCode;
  /** What was wanted, as a phrase: "kubelet to be healthy". */
  readonly what: string;
  /** The node, or the object in Kubernetes or in the cloud. */
  readonly where?: string;
  /** What was seen, in the words of who said it. */
  readonly seen: string;
  /** How long it was so, in seconds. */
  readonly forSeconds?: number;
  /** What to do, where more is known than the catalogue can say. */
  readonly remedy?: string;
}
