import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { stringify } from "yaml";
import { isSameConfig } from "../../../../components/talos/config/configDiff.ts";
import {
  imageVersion,
  kubernetesImages,
  upgradedImage,
  withImages,
} from "../../../../components/talos/config/kubernetesImages.ts";

const config = `# made by hand
version: v1alpha1 # the old document
machine:
  kubelet: {image: "ghcr.io/siderolabs/kubelet:v1.35.4", extraArgs: {v: "2"}}
  sysctls:
    a:   "1"
cluster:
  apiServer:
    image: registry.k8s.io/kube-apiserver:v1.35.4 # pinned
  proxy:
    disabled: true
---
apiVersion: v1alpha1
kind: HostnameConfig
hostname: cp-1
`;

describe("S8.3 the images of Kubernetes in a machine config", () => {
  test("are read where there are any", () => {
    expect(kubernetesImages(config)).toEqual({
      kubelet: "ghcr.io/siderolabs/kubelet:v1.35.4",
      "kube-apiserver": "registry.k8s.io/kube-apiserver:v1.35.4",
    });
    expect(kubernetesImages("machine: [unclosed")).toEqual({});
  });

  test("are changed, and not a byte of anything else", () => {
    const images = {
      kubelet: "ghcr.io/siderolabs/kubelet:v1.36.1",
      "kube-apiserver": "mirror:5000/a:v1.36.1@sha256:ab",
    };
    expect(withImages(config, images)).toBe(
      config
        .replace('"ghcr.io/siderolabs/kubelet:v1.35.4"', images.kubelet)
        .replace("registry.k8s.io/kube-apiserver:v1.35.4", images["kube-apiserver"]),
    );
  });

  test("are added where a config leaves them to Talos", () => {
    const changed = withImages(config, { "kube-scheduler": "registry.k8s.io/kube-scheduler:v1.36.1" });
    expect(kubernetesImages(changed ?? "")["kube-scheduler"]).toBe("registry.k8s.io/kube-scheduler:v1.36.1");
    expect(changed).toContain("kind: HostnameConfig");
    expect(isSameConfig(changed?.replace(/\n {2}scheduler:\n {4}image: .*/, "") ?? "", config)).toBe(true);
  });

  test("are not changed in a config that cannot be read, or has none", () => {
    expect(withImages("machine: [unclosed", { kubelet: "a:v1.36.1" })).toBeUndefined();
    expect(withImages("kind: HostnameConfig\n", { kubelet: "a:v1.36.1" })).toBeUndefined();
  });

  test("are what was asked for, whatever else the config has", () => {
    const words = fc.string();
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        words,
        fc.integer(),
        fc.boolean(),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(words, tie("any"), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, words, (other, comment) => {
        const made = stringify({ machine: { kubelet: { image: "a/kubelet:v1.35.4", other } }, cluster: { other } });
        const text = `# ${comment.replaceAll(/[\r\n\u0085\u2028\u2029]/g, " ")}\n${made}`;
        const changed = withImages(text, { kubelet: "a/kubelet:v1.36.1" }) ?? "";
        expect(kubernetesImages(changed)).toEqual({ kubelet: "a/kubelet:v1.36.1" });
        expect(withImages(changed, { kubelet: "a/kubelet:v1.35.4" })).toBe(text);
      }),
    );
  });
});

describe("S8.3 the version of an image", () => {
  test.each([
    ["registry.k8s.io/kube-apiserver:v1.35.4", "1.35.4", 35],
    ["mirror:5000/kubelet:v1.36.0-rc.1@sha256:0123", "1.36.0-rc.1", 36],
    ["ghcr.io/siderolabs/kubelet:v1.36.0-fat", "1.36.0-fat", 36],
  ])("is that of its tag: %s", (image, text, minor) => {
    expect(imageVersion(image)).toEqual({ text, minor });
  });

  test.each(["mirror:5000/kubelet", "kubelet@sha256:0123", "kubelet:latest", ""])("is unknown for %p", (image) => {
    expect(imageVersion(image)).toBeUndefined();
  });

  test.each([
    ["a/kubelet:v1.35.4", "a/kubelet:v1.36.1", "a/kubelet:v1.36.1"],
    ["a/kubelet:v1.35.4@sha256:01", "a/kubelet:v1.36.1@sha256:02", "a/kubelet:v1.36.1@sha256:02"],
    ["mirror:5000/kubelet:v1.35.4", "a/kubelet:v1.36.1@sha256:02", "mirror:5000/kubelet:v1.36.1"],
    ["a/kubelet", "b/kubelet:v1.36.1", "a/kubelet:v1.36.1"],
  ])("changes alone, in the running repository: %s and %s", (running, wanted, image) => {
    expect(upgradedImage(running, wanted)).toBe(image);
  });
});
