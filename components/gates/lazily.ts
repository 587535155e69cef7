/** Observations by a module that is loaded when the wait starts. A program that only builds the graph does not load the clients of Talos and Kubernetes. */
export async function* lazily<Observation>(
  load: () => Promise<AsyncIterable<Observation>>,
): AsyncGenerator<Observation> {
  yield* await load();
}
