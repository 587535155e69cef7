// Harmless differences between an SDK and the plugin that is built for it, each with its reason. The schema test
// fails for one that is missing here, and for one that no longer exists.

export interface AcceptedDifference {
  readonly token: string;
  /** In the words of the test. */
  readonly difference: string;
  readonly reason: string;
}

export const accepted: readonly AcceptedDifference[] = [];
