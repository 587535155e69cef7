import { rule } from "./rule.ts";

/** A doubled entry changes the schematic's id, and with it the image, for nothing. */
export const doubledImageEntries = rule(["image"], function* ({ image }) {
  for (const key of ["extensions", "kernelArgs"] as const) {
    for (const [index, entry] of image[key].entries()) {
      if (image[key].indexOf(entry) < index) {
        yield { path: `image.${key}[${index}]`, message: `${entry} is listed before: remove one` };
      }
    }
  }
});
