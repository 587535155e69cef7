import { describe, expect, test } from "@jest/globals";
import { refusalOf } from "../../../components/backup/restoreJudgement.ts";

const cluster = (kubernetesVersion: string, talosVersion = "1.13.8") => ({
  id: "abc",
  kubernetesVersion,
  talosVersion,
});
const backup = (kubernetesVersion: string, talosVersion = "1.13.8", id = "abc") => ({
  cluster: { name: "home", id, kubernetesVersion, talosVersion, nodes: [] },
});

describe("a backup (S7.4)", () => {
  test.each([
    ["the same versions", backup("1.36.4"), cluster("1.36.4")],
    ["another patch release of Kubernetes, also an older one", backup("1.36.4"), cluster("1.36.1")],
    ["the next minor release of Kubernetes", backup("1.35.9"), cluster("1.36.0")],
    ["a later Talos", backup("1.35.9", "v1.12.6"), cluster("1.36.0", "1.13.8")],
    ["another patch release of Talos, also an older one", backup("1.36.4", "1.13.8"), cluster("1.36.4", "1.13.2")],
  ])("is restored into a cluster with %s", (_, was, is) => {
    expect(refusalOf("2026-11-20T05-12-33Z", was, is)).toBeUndefined();
  });

  test.each([
    ["other machine secrets", backup("1.36.4", "1.13.8", "other"), cluster("1.36.4"), "SLU-B106", /of other|id other/],
    [
      "an older minor release of Kubernetes",
      backup("1.36.4"),
      cluster("1.35.4"),
      "SLU-B109",
      /only 1\.36 or 1\.37 can/,
    ],
    [
      "a Kubernetes two minor releases later",
      backup("1.34.1"),
      cluster("1.36.4"),
      "SLU-B109",
      /only 1\.34 or 1\.35 can/,
    ],
    ["an older minor release of Talos", backup("1.36.4"), cluster("1.36.4", "1.12.6"), "SLU-B109", /older etcd cannot/],
  ])("is refused by a cluster with %s", (_, was, is, code, seen) => {
    expect(refusalOf("2026-11-20T05-12-33Z", was, is)).toMatchObject({ code, seen: expect.stringMatching(seen) });
  });

  test("is refused with all faults of its versions at once", () => {
    expect(refusalOf("one", backup("1.36.4"), cluster("1.34.1", "1.12.6"))?.seen).toMatch(
      /can read them; its etcd was/,
    );
  });
});
