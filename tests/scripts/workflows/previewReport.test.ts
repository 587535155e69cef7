import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { codeBlock } from "../../../scripts/workflows/codeBlock.ts";
import { previewReport } from "../../../scripts/workflows/previewReport.ts";

const text = `sluice: installing npm packages (npm ci, about a minute when npm's cache is empty) ...
Previewing update (home):
+ pulumi:pulumi:Stack: (create)
Resources:
    + 8 to create
    +-2 to replace
    3 unchanged
`;
const preview = {
  environment: "home",
  text,
  succeeded: true,
  hasBackend: false,
  commit: "0123456789abcdef0123456789abcdef01234567",
  run: "https://github.com/me/sluice/actions/runs/1",
};

describe("U2 the report of a preview", () => {
  test("shows what would change, the commit, what it was compared with, and the engine's output", () => {
    expect(previewReport(preview)).toBe(`### Preview of \`home\`: 8 to create, 2 to replace

Commit 0123456789ab · compared with nothing deployed: this run has no backend · [run](https://github.com/me/sluice/actions/runs/1)

<details><summary>Full preview</summary>

\`\`\`text
Previewing update (home):
+ pulumi:pulumi:Stack: (create)
Resources:
    + 8 to create
    +-2 to replace
    3 unchanged
\`\`\`

</details>`);
  });

  test("shows that nothing would change", () => {
    const same = previewReport({
      ...preview,
      hasBackend: true,
      text: "Previewing update (home):\nResources:\n    8 unchanged\n",
    });
    expect(same).toContain("### Preview of `home`: no changes");
    expect(same).toContain("compared with the deployed state");
  });

  test("shows everything, expanded, if the preview failed", () => {
    const failed = previewReport({ ...preview, succeeded: false, text: "sluice: The configuration has 1 fault:\n" });
    expect(failed).toContain("### Preview of `home`: failed");
    expect(failed).toContain("<details open>");
    expect(failed).toContain("sluice: The configuration has 1 fault:");
  });

  test("fits into a comment, however long the preview: the middle is left out, the end stays", () => {
    const long = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join("\n");
    const report = previewReport({ ...preview, text: `${long}\nerror: the last word` });
    expect(report.length).toBeLessThan(65_536);
    expect(report.length).toBeGreaterThan(60_000);
    expect(report).toContain("line 0\n");
    expect(report).toMatch(/\.\.\. \d+ lines are left out \.\.\./);
    expect(report).toContain("error: the last word\n```\n\n</details>");
  });
});

describe("a code block", () => {
  const anyText = fc.array(fc.constantFrom("a", "`", "```", "\n", "<", "@somebody ", "x".repeat(50)), {
    maxLength: 200,
  });

  test("is not longer than allowed, and its content cannot close it", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 300, max: 2000 }), (parts, limit) => {
        const block = codeBlock(parts.join(""), limit);
        const [first = "", ...rest] = block.split("\n");
        const fence = first.replace("text", "");
        expect(block.length).toBeLessThanOrEqual(limit);
        expect(rest.indexOf(fence)).toBe(rest.length - 1);
        expect(rest.slice(0, -1).join("\n")).not.toContain(fence);
      }),
    );
  });

  test("contains the complete text if it fits", () => {
    expect(codeBlock("a\nb\n", 100)).toBe("```text\na\nb\n```");
  });
});
