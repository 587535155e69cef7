// Differences between an SDK and the plugin that is built for it which do no harm, each with its reason. The schema test
// fails for one that is not here, and for one that is here and is gone.

export interface AcceptedDifference {
  readonly token: string;
  /** In the words of the test. */
  readonly difference: string;
  readonly reason: string;
}

export const accepted: readonly AcceptedDifference[] = [];
