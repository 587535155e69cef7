// The Image Factory as far as it is used: it is told a schematic, and makes images of that from then on.
import { unanswered } from "../errors/unanswered.ts";

export interface ImageFactory {
  /** Such as `https://factory.talos.dev`. */
  readonly endpoint: string;
  readonly fetch: typeof fetch;
  /** Seconds until a question counts as not answered. */
  readonly deadline: number;
}

/** Where IMAGE_FACTORY_ENDPOINT says, else at the host itself. */
export function imageFactory(host: string): ImageFactory {
  const endpoint = process.env.IMAGE_FACTORY_ENDPOINT || `https://${host}`;
  return { endpoint: endpoint.replace(/\/$/, ""), fetch, deadline: 10 };
}

/** The factory did not answer, or not with what was asked for. */
export class ImageFactoryError extends Error {
  override readonly name = "ImageFactoryError";
  /** Whether another try may succeed. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

/** Tells the factory a schematic, which may know it already. Returns the id that it has there. */
export async function register({ endpoint, fetch, deadline }: ImageFactory, schematic: string): Promise<string> {
  const signal = AbortSignal.timeout(deadline * 1000);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${endpoint}/schematics`, { method: "POST", body: schematic, signal });
    text = await response.text();
  } catch (error) {
    throw new ImageFactoryError(`${endpoint} does not answer: ${unanswered(error, deadline)}`, true);
  }
  const id = response.ok ? idIn(text) : undefined;
  if (id !== undefined) return id;
  const mayPass = response.ok || response.status === 429 || response.status >= 500;
  throw new ImageFactoryError(`${endpoint} answers ${response.status}: ${firstLine(text)}`, mayPass);
}

function idIn(text: string): string | undefined {
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined; // a proxy between us and the factory answers in HTML
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0]?.slice(0, 200) || "nothing";
}
