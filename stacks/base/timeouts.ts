import { z } from "zod";
import { gates } from "../../components/gates/registry.ts";
import { stepTimeouts, timeout } from "../../components/model/settings/time.ts";

/** Each gate defines its own default timeout, and the key that sets it. */
const gateTimeouts = Object.fromEntries(
  gates.map(({ name, proves, timeout: { key, seconds } }) => [key, timeout(seconds, `Gate ${name}: ${proves}.`)]),
);

export const timeouts = z
  .strictObject({ ...stepTimeouts, ...gateTimeouts })
  .meta({ description: "How long each gate, and each other step that is waited for, may take, in seconds." });
