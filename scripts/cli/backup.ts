// `npm run backup -- [list|verify] <environment>`: backups of etcd and the machine secrets.
import { readOptions } from "../base/commandLine.ts";
import { environmentList } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";
import { namedFile } from "../base/files.ts";

const usage = `npm run backup -- <environment> [--to <folder>]
npm run backup -- list <environment> [--to <folder>]
npm run backup -- verify <environment> [<backup>] [--identity <file>] [--to <folder>]

Takes a backup now: an etcd snapshot from a healthy control plane, verified by its hash and by opening it; the machine secrets; and a manifest. All of it is
encrypted with age for the ageRecipients of the environment, and stored completely or not at all. The oldest backups beyond backup.keep are deleted.
'list' prints the backups that the target has. 'verify' downloads one, the newest by default, and compares it with its manifest; with an age identity it is
also decrypted and opened.

  --to <folder>      a folder of this host in place of the environment's target
  --identity <file>  the age identity; or SLUICE_AGE_IDENTITY_FILE, or SLUICE_AGE_IDENTITY for the identity itself`;

const options = { to: { type: "string" }, identity: { type: "string" } } as const;

await main(async () => {
  const call = readOptions(usage, options, { allowPositionals: true });
  if (call === undefined) return 0;
  const [first = "", ...rest] = call.positionals;
  const action = first === "list" || first === "verify" ? first : "take";
  const [environment, name, ...more] = action === "take" ? call.positionals : rest;
  const { identity } = call.values;
  const to = call.values.to === undefined ? undefined : namedFile(call.values.to);
  if (environment === undefined) throw new Failure(`name one environment: ${await environmentList()}.\n${usage}`);
  const surplus = action === "verify" ? more : [...(name === undefined ? [] : [name]), ...more];
  if (surplus.length > 0) throw new Failure(`unexpected argument '${surplus.join(" ")}'.\n${usage}`);
  if (action !== "verify" && identity !== undefined) throw new Failure("--identity is for 'verify'.");
  const { listAll, takeNow, verifyOne } = await import("../backup/backup.ts");
  if (action === "take") await takeNow(environment, { to });
  else if (action === "list") await listAll(environment, { to });
  else {
    const { readIdentities } = await import("../secrets/identities.ts");
    await verifyOne(environment, name ?? "latest", { to, identities: await readIdentities(identity) });
  }
  return 0;
});
