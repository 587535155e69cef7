import { describe, expect, test } from "@jest/globals";
import { catalogue } from "../../../components/errors/catalogue.ts";
import { failureMessage } from "../../../components/errors/failureMessage.ts";

describe("Failure message", () => {
  test("says code, what, where, seen, how long, cause and remedy", () => {
    expect(
      failureMessage({
        code: "SLU-T331",
        what: "kubelet to be healthy",
        where: "w-1",
        seen: "kubelet is Failed\nno such file or directory\n",
        forSeconds: 83.4,
        remedy: "Mount the disk.",
      }),
    ).toBe(
      [
        "SLU-T331 Talos services are not healthy",
        "  where:  w-1",
        "  wanted: kubelet to be healthy",
        "  seen:   kubelet is Failed",
        "          no such file or directory",
        "  for:    1 min 23 s",
        "  cause:  A service does not run or fails its health check on the node that is named.",
        "  remedy: Mount the disk.",
      ].join("\n"),
    );
  });

  test("what is not known has no line, and the catalogue has a remedy", () => {
    const text = failureMessage({ code: "SLU-M101", what: "a snapshot", seen: "none" });
    expect(text).not.toMatch(/where:|for:/);
    expect(text).toContain(`remedy: ${catalogue["SLU-M101"].remedy}`);
  });

  test.each(Object.entries(catalogue))("%s is a whole entry, each sentence ended", (code, { title, cause, remedy }) => {
    expect(code).toMatch(/^SLU-[TKML]\d{3}$/);
    expect(title).not.toMatch(/[.|]$/);
    for (const text of [cause, remedy]) expect(text).toMatch(/^[^|]+\.$/);
  });
});
