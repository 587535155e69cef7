// The words that docs/glossary.md asks to avoid. A test compares its last table with this list.

export interface Avoided {
  /** As shown in the glossary. */
  readonly words: string;
  /** What to write instead. */
  readonly use: string;
  /** A regular expression for whole words in either case; a space stands for any white space. */
  readonly pattern: string;
}

const be = "(?:am|are|be|been|being|is|was|were)";

export const avoided: readonly Avoided[] = [
  { words: "mend", use: "fix", pattern: "mend(?:s|ed|ing)?" },
  { words: "anew", use: "again; recreate, regenerate, renew, re-run, re-seal", pattern: "anew" },
  { words: "bear (a loss)", use: "tolerate; quorum is preserved", pattern: "bears?|bearing|borne" },
  {
    words: "what opens (a cluster)",
    use: "credentials, kubeconfig, talosconfig",
    pattern: "what opens(?! (?:a|each|the) gate)",
  },
  {
    words: "go on (with)",
    use: "continue, resume, keep",
    pattern: "(?:goes|gone|went|go) on(?! (?:to|PATH)\\b)|going on with",
  },
  { words: "let go", use: "release, remove", pattern: "lets? go|letting go" },
  { words: "tell", use: "report, show, print, log, state; configure; distinguish", pattern: "tells?|told|telling" },
  {
    words: "in passing, may pass, passing failure",
    use: "transient, retryable",
    pattern: "in passing|(?:can|could|may|might|will) pass|passing (?:error|failure|fault|problem)s?",
  },
  { words: "stand for", use: "mean, represent", pattern: "(?:stand|stands|standing|stood) for" },
  { words: "stand-in", use: "placeholder", pattern: "stand-?ins?|(?:stand|stands|stood) in for" },
  { words: "one's own", use: "your own, its own", pattern: "one's" },
  {
    words: "come of, come to an end",
    use: "result, complete, end",
    pattern: "(?:come|comes|came|coming) of|(?:come|comes|came) to (?:an|its|their) end",
  },
  { words: "lay a hand on", use: "manage, touch", pattern: "(?:lay|lays|laid) (?:a )?hands?" },
  {
    words: "take back",
    use: "cancel, revert, withdraw",
    pattern: "(?:take|takes|taken|took) (?:it |that |them )?back",
  },
  {
    words: "look at",
    use: "check, read, observe, inspect",
    pattern: "(?:look|looks|looked|looking) (?:at|whether)|(?:can|cannot|could|may|must)(?: not)? look(?! like)",
  },
  {
    words: "look (noun)",
    use: "check, observation, probe",
    pattern: "(?:a|an|another|each|every|first|last|next|no|one|second|two|three) looks?",
  },
  { words: "whole (for complete)", use: "complete, healthy, intact", pattern: `(?:${be}|made|not|still) whole` },
  {
    words: "well (for healthy)",
    use: "healthy",
    pattern: `(?:${be}|not|all|who) well(?! (?:above|known|below|beyond|within)|-)`,
  },
  { words: "end well, go well", use: "succeed", pattern: "(?:end|ends|ended|go|goes|gone|went) well" },
  { words: "stranger", use: "unexpected member, unknown machine", pattern: "strangers?" },
  { words: "lack", use: "is missing, does not have", pattern: "lack(?:s|ed|ing)?" },
  { words: "play (the lab)", use: "simulate", pattern: "play(?:s|ed|ing)?" },
  { words: "mishap", use: "fault", pattern: "mishaps?" },
  { words: "heed", use: "respect", pattern: "heed(?:s|ed|ing)?" },
  { words: "anyhow", use: "anyway", pattern: "anyhow" },
  {
    words: "shut (a gate)",
    use: "closed",
    pattern: "(?:is|are|be|was|were|stay|stays|stayed|keep|keeps|kept|remains?|hold|holds|held) shut|shuts it",
  },
  {
    words: "it is said",
    use: "is reported, is printed; name what prints it",
    pattern: `${be} (?:also |then |not )?said`,
  },
  { words: "person", use: "user, contributor, someone", pattern: "persons?" },
  { words: "this program", use: "Sluice", pattern: "this program" },
  {
    words: "machines that are there",
    use: "existing machines",
    pattern: "machines? that (?:is|are|was|were) (?:already )?there|that (?:is|are) already there",
  },
  { words: "without a word", use: "silently", pattern: "without a word" },
  { words: "take for", use: "treat as", pattern: "taken for|(?:take|takes|took) (?:it|them|this|that) for" },
  { words: "wait at (a gate)", use: "wait for", pattern: "wait(?:s|ed|ing)? at(?! (?:least|most|once|the same))" },
  { words: "let through", use: "allow", pattern: "lets? (?:it |them )?through" },
  { words: "not so any more", use: "no longer", pattern: "so any more|holds? no more" },
  { words: "for ever", use: "forever, indefinitely", pattern: "for ever" },
  { words: "ill (for unhealthy)", use: "unhealthy", pattern: `${be} ill` },
  { words: "begun", use: "started", pattern: "begun" },
  { words: "for it is", use: "because it is", pattern: "(?<=,\\s+)for (?:he|it|there|they)" },
  { words: "so many seconds", use: "the given number of seconds", pattern: "(?:after|for|of|than|within) so many" },
  {
    words: "by who",
    use: "by the user, by the caller",
    pattern: "(?:by|for|from|of|to|with) who(?! (?:is|are) (?:a|the) )",
  },
  { words: "at times", use: "sometimes", pattern: "at times" },
];
