import { labCommand } from "./lab/call.ts";
import { labEnvironment } from "./lab/environment.ts";
import { writeAccessFile } from "./workspace/accessFile.ts";

await writeAccessFile({
  output: "talosconfig",
  variable: "TALOSCONFIG",
  async adapt(environment, text) {
    const on = await labEnvironment(environment);
    if (on === undefined) return { text };
    const inside = labCommand(on.lab, "exec", "--", "talosctl get members");
    return { text, notes: [`The nodes are reached from inside the lab only, where it needs no file: ${inside}`] };
  },
});
