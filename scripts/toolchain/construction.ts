// Builds tools in parallel: one compiles while the one before is linked and the modules of the next ones are downloaded.
import { buildTool, type Staged, stageTool } from "./build.ts";
import { toolVersion } from "./goModule.ts";
import { type Progress, type Screen, type StepProgress, startProgress } from "./progress.ts";
import { removeOlder } from "./prune.ts";
import type { Tool } from "./tool.ts";

/** Tools that may turn out to be unnecessary. */
export interface Undecided {
  readonly tools: readonly Tool[];
  /** The tools that must be built before that is known. */
  readonly after: readonly Tool[];
  isNeeded(print: (text: string) => void): Promise<boolean>;
}

/** Builds them in their order, the undecided ones last. Called by the holder of the build lock. */
export async function construct(missing: readonly Tool[], screen: Screen, undecided?: Undecided): Promise<void> {
  const steps = missing.map((tool) => {
    return { what: `building ${tool.name} ${toolVersion(tool)}`, purpose: tool.purpose, expected: tool.seconds };
  });
  const progress = startProgress(steps, screen);
  try {
    await new Construction(missing, progress, undecided).run();
  } finally {
    progress.stop();
  }
}

/** A tool that is being built. */
interface Work {
  readonly tool: Tool;
  readonly step: StepProgress;
  readonly built: PromiseWithResolvers<void>;
  staged?: Promise<Staged>;
}

class Construction {
  private readonly works: readonly Work[];
  private readonly undecided: readonly Work[];
  /** Whether the undecided tools are needed. */
  private readonly decision: Promise<boolean>;
  private readonly cancellation = new AbortController();
  private linking: Promise<void> = Promise.resolve();

  constructor(missing: readonly Tool[], progress: Progress, undecided: Undecided | undefined) {
    this.works = missing.map((tool, place) => {
      return { tool, step: progress.steps[place] as StepProgress, built: Promise.withResolvers<void>() };
    });
    this.undecided = this.works.filter(({ tool }) => undecided?.tools.includes(tool));
    this.decision = undecided === undefined ? Promise.resolve(false) : this.decide(undecided, progress);
    this.decision.catch(() => undefined); // reported to whoever awaits it
  }

  async run(): Promise<void> {
    try {
      // A failed download is reported when it is the tool's turn to be compiled.
      this.stageAll().catch(() => undefined);
      for await (const work of this.inTurn()) await this.build(work);
      await this.linking;
    } catch (error) {
      this.cancellation.abort();
      await Promise.allSettled([this.linking, ...this.works.map(({ staged }) => staged)]);
      throw error;
    }
  }

  private async *inTurn(): AsyncGenerator<Work> {
    yield* this.works.filter((work) => !this.undecided.includes(work));
    if (await this.decision) yield* this.undecided;
  }

  private async decide({ after, isNeeded }: Undecided, progress: Progress): Promise<boolean> {
    await Promise.all(this.works.flatMap(({ tool, built }) => (after.includes(tool) ? [built.promise] : [])));
    const needed = await isNeeded(progress.print);
    if (!needed) progress.drop(this.undecided.map(({ step }) => step));
    return needed;
  }

  private async stageAll(): Promise<void> {
    for await (const work of this.inTurn()) await this.stage(work);
  }

  private stage(work: Work): Promise<Staged> {
    work.staged ??= stageTool(work.tool, this.cancellation.signal, work.step.doing);
    work.staged.catch(() => undefined); // reported to whoever builds it
    return work.staged;
  }

  /** Returns when only linking is left for it, and nothing for the one before. */
  private async build(work: Work): Promise<void> {
    const before = this.linking;
    const compiled = Promise.withResolvers<void>();
    const finished = this.finish(work, compiled.resolve);
    finished.catch(() => undefined); // reported to whoever awaits linking
    this.linking = finished;
    await Promise.race([compiled.promise, finished]);
    await before;
  }

  private async finish(work: Work, onLinking: () => void): Promise<void> {
    const { tool, step, built } = work;
    step.begin();
    try {
      await buildTool(await this.stage(work), step, onLinking);
      await removeOlder(tool);
    } catch (error) {
      step.finish(this.cancellation.signal.aborted ? "cancelled" : "failed");
      throw error;
    }
    step.finish("done");
    built.resolve();
  }
}
