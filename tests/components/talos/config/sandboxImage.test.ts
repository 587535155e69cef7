import { expect, test } from "@jest/globals";
import { sandboxImage } from "../../../../components/talos/config/sandboxImage.ts";

// Read in v1.12.0, v1.12.6, v1.13.8 and v1.14.1 of siderolabs/talos; for 1.11 in containerd 2.1.4, which its go.mod names.
test.each([
  ["1.11.6", "registry.k8s.io/pause:3.10"],
  ["1.12.6", "registry.k8s.io/pause:3.10"],
  ["1.13.8", "registry.k8s.io/pause:3.10.1"],
  ["1.14.1", "registry.k8s.io/pause:3.10.2"],
  ["1.15.0", "registry.k8s.io/pause:3.10.2"],
])("nodes with Talos %s have %s", (talos, image) => {
  expect(sandboxImage(talos)).toBe(image);
});
