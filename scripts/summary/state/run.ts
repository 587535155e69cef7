// What is known about a completed run.

import type { StackState } from "./stackState.ts";
import type { Timeline } from "./timeline.ts";
import type { RunTrace } from "./trace.ts";

/** What the environment's file requests. */
export interface Expected {
  readonly clusterName: string;
  readonly nodes: readonly ExpectedNode[];
  /** The gates of its chain; a gate without a resource has not opened. */
  readonly gates: readonly string[];
}

export interface ExpectedNode {
  readonly name: string;
  readonly role: string;
  readonly address: string;
  /** The node whose config is sent before this node's, in its lane. */
  readonly behind?: string | undefined;
}

export interface Run {
  readonly expected: Expected;
  readonly state: StackState;
  readonly trace: RunTrace | undefined;
  /** Milliseconds since 1970. */
  readonly ended: number;
  readonly timeline: Timeline | undefined;
  /** How often the engine ran again after a transient failure. Default: never. */
  readonly resumed?: number;
  /** Milliseconds that its user took to answer the engine's question, which are no time of the run. Default: none. */
  readonly askedMs?: number;
}
