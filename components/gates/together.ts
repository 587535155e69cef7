import { News } from "./news.ts";

/** Looks at one part, and tells of it whenever there is something new. It ends with the signal that whoever made it has. */
export type Work<Look> = (see: (part: Partial<Look>) => void) => Promise<void>;

/** What several works see, as one look: each goes at its own pace, and none of them keeps what another saw from being told. */
export async function* together<Look>(
  first: Look,
  works: readonly Work<Look>[],
  signal: AbortSignal,
): AsyncGenerator<Look> {
  const news = new News(signal);
  let seen = first;
  let failure: { readonly error: unknown } | undefined;
  const see = (part: Partial<Look>) => {
    seen = { ...seen, ...part };
    news.tell();
  };
  for (const work of works) {
    work(see).catch((error) => {
      failure = { error };
      news.tell();
    });
  }
  while (await news.next()) {
    if (failure !== undefined) throw failure.error;
    yield seen;
  }
}
