import { News } from "../../../components/gates/news.ts";

/** Something to look at that shows what a test says, one after the other. */
export class Feed<Observation> {
  /** Whether anybody looks. */
  watched = false;
  private readonly said: Observation[] = [];
  private news: News | undefined;

  say(observation: Observation): void {
    this.said.push(observation);
    this.news?.tell();
  }

  async *observe(signal: AbortSignal): AsyncGenerator<Observation> {
    const news = new News(signal);
    this.news = news;
    this.watched = true;
    news.tell();
    try {
      while (await news.next()) while (this.said.length > 0) yield this.said.shift() as Observation;
    } finally {
      this.watched = false;
    }
  }
}
