// Makes a Talos snapshot with Packer where there is none: what `hetzner.snapshot.build` has the engine run.
// What it is to be stands in the environment, in the variables that Packer itself reads.
import { failureMessage } from "../components/errors/failureMessage.ts";
import { hetznerApi, newestSnapshot, type SnapshotQuery } from "../components/images/hetznerSnapshots.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { run } from "./workspace/run.ts";

const template = "packer/hetzner-talos.pkr.hcl";
/** A server boots its rescue system, is written and copied: minutes. */
const minutes = 30;

await main(async () => {
  const { HCLOUD_TOKEN: token = "", PKR_VAR_labels: labels = "{}", PKR_VAR_architecture: architecture } = process.env;
  const query = { labels: JSON.parse(labels), architecture } as SnapshotQuery;
  const found = await newestSnapshot(hetznerApi(token), query).catch((error: Error) => {
    throw refused("SLU-M102", error.message);
  });
  if (found !== undefined) {
    console.log(`sluice: snapshot ${found.id} '${found.description}' is there already`);
    return 0;
  }
  await packer("init", template);
  await packer("build", "-color=false", template);
  return 0;
});

async function packer(...args: readonly string[]): Promise<void> {
  const show = (text: string) => void process.stdout.write(text);
  const ended = await run("packer", args, { cwd: root, timeout: minutes * 60_000, onOutput: show }).catch((error) => {
    const seen = error.code === "ENOENT" ? "there is no packer on PATH: install it" : error.message;
    throw refused("SLU-M103", seen);
  });
  if (ended.cut === "timeout") throw refused("SLU-M103", `packer ${args[0]} took longer than ${minutes} minutes`);
  if (ended.code === 0) return;
  const words = `${ended.stdout}${ended.stderr}`.trim().split("\n").slice(-15).join("\n");
  throw refused("SLU-M103", `packer ${args[0]} ended with ${ended.code}:\n${words}`);
}

function refused(code: "SLU-M102" | "SLU-M103", seen: string): Failure {
  return new Failure(failureMessage({ code, what: "a snapshot of Talos", seen }));
}
