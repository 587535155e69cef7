// What the engine runs for `npm run adopt`, in place of index.ts.
import "./plainStackTraces.ts";
import * as pulumi from "@pulumi/pulumi";
import { adoptCluster, adoptionVariable } from "./adoption.ts";
import { loadStackConfig } from "./config/configFile.ts";

await adoptCluster(loadStackConfig(pulumi.getStack()), JSON.parse(process.env[adoptionVariable] ?? ""));
