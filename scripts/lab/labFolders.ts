import { join } from "node:path";
import { workFolder } from "../base/paths.ts";

/** Where the labs of this checkout are, each in a folder of its name. */
export const labsFolder = join(workFolder, "lab");

/** The folder, relative to the checkout, that charts are copied to for environments on a lab. */
export const labCharts = ".work/charts";
