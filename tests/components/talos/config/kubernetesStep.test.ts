import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { unsupportedKubernetesStep } from "../../../../components/talos/config/kubernetesStep.ts";

const kubelet = (image: string) => ({ machine: { kubelet: { image } } });
const worker = (version: string) => stringify(kubelet(`ghcr.io/siderolabs/kubelet:v${version}`));
const controlPlane = (version: string, apiServer = version) =>
  stringify({
    ...kubelet(`ghcr.io/siderolabs/kubelet:v${version}`),
    cluster: { apiServer: { image: `registry.k8s.io/kube-apiserver:v${apiServer}` } },
  });

describe("S5.4 a change of a node's Kubernetes version", () => {
  test.each([
    ["none", "1.35.4", "1.35.4"],
    ["to a later patch release", "1.35.4", "1.35.9"],
    ["to an earlier patch release of the minor version", "1.35.4", "1.35.1"],
    ["to the next minor version", "1.35.4", "1.36.0"],
    ["from 1.9 to 1.10, which are numbers", "1.9.0", "1.10.0"],
  ])("is allowed: %s", (_what, from, to) => {
    expect(unsupportedKubernetesStep(worker(from), worker(to))).toBeUndefined();
  });

  test("is refused if it skips minor versions, with the way through each of them", () => {
    expect(unsupportedKubernetesStep(worker("1.32.4"), worker("1.36.1"))).toEqual({
      component: "kubelet",
      from: "1.32.4",
      to: "1.36.1",
      remedy: expect.stringMatching(/a release of 1\.33, .* until 1\.36\.1; docs\/versions\.md .*npm run refresh/),
    });
  });

  test("is refused if the minor version goes down, with what is possible", () => {
    expect(unsupportedKubernetesStep(worker("1.35.4"), worker("1.34.9"))).toMatchObject({
      from: "1.35.4",
      to: "1.34.9",
      remedy: expect.stringMatching(/^Set kubernetesVersion to a release of 1\.35 or 1\.36\. .*npm run destroy/),
    });
  });

  test("is refused if only a control plane's component would, as a patch can have it", () => {
    expect(unsupportedKubernetesStep(controlPlane("1.34.4"), controlPlane("1.34.4", "1.36.0"))).toMatchObject({
      component: "kube-apiserver",
    });
  });

  test.each([
    ["another registry and a digest", "mirror.example.org:5000/kubelet:v1.36.0@sha256:abc", "1.36.0"],
    ["a pre-release", "ghcr.io/siderolabs/kubelet:v1.36.0-rc.1", "1.36.0-rc.1"],
  ])("is judged by an image with %s", (_what, image, to) => {
    expect(unsupportedKubernetesStep(worker("1.34.0"), stringify(kubelet(image)))).toMatchObject({ to });
  });

  test.each([
    ["of an image without a tag", stringify(kubelet("mirror.example.org:5000/kubelet"))],
    ["without an image", stringify({ machine: {} })],
    ["that cannot be read", "machine: [unclosed"],
  ])("is not judged by a config %s", (_what, config) => {
    expect(unsupportedKubernetesStep(worker("1.32.0"), config)).toBeUndefined();
    expect(unsupportedKubernetesStep(config, worker("1.36.0"))).toBeUndefined();
  });
});
