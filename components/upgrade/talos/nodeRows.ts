// What several nodes are doing at once, in the one row of a resource.

export class NodeRows {
  private readonly report: (text: string) => void;
  private readonly texts = new Map<string, string>();

  constructor(report: (text: string) => void) {
    this.report = report;
  }

  /** A function that shows what this node is doing, until it is done. */
  of(node: string): (text: string) => void {
    return (text) => {
      this.texts.set(node, text);
      this.show();
    };
  }

  done(node: string): void {
    this.texts.delete(node);
  }

  private show(): void {
    this.report([...this.texts].map(([node, text]) => `${node}: ${text}`).join("; "));
  }
}
