import { rule } from "./rule.ts";

/** An entry that is listed twice changes the schematic's id, and so the image, for nothing. */
export const doubledImageEntries = rule(["image"], function* ({ image }) {
  for (const key of ["extensions", "kernelArgs"] as const) {
    for (const [index, entry] of image[key].entries()) {
      if (image[key].indexOf(entry) < index) {
        yield { path: `image.${key}[${index}]`, message: `${entry} is listed twice: remove one` };
      }
    }
  }
});
