import { labEnvironment } from "../lab/environment.ts";
import { labCommand } from "../lab/labCommand.ts";
import { writeCredentialsFile } from "../stack/credentialsFile.ts";

await writeCredentialsFile({
  output: "talosconfig",
  variable: "TALOSCONFIG",
  async adapt(environment, text) {
    const on = await labEnvironment(environment);
    if (on === undefined) return { text };
    const inside = labCommand(on.lab, "exec", "--", "talosctl get members");
    return { text, notes: [`The nodes can be reached only from inside the lab, where no file is needed: ${inside}`] };
  },
});
