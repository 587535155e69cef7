// The calls of the Image Factory: it registers a schematic, and then makes images of it.
import { type Api, callApi, parsedJson } from "../api/callApi.ts";
import { record, text } from "../model/untyped.ts";

/** At the address in IMAGE_FACTORY_ENDPOINT, or else at the host itself. */
export function imageFactory(host: string): Api {
  const url = process.env.IMAGE_FACTORY_ENDPOINT || `https://${host}`;
  return { url: url.replace(/\/$/, ""), deadlineSeconds: 10 };
}

/** Registers a schematic, which the factory may know already. Returns the id that the factory gives it. */
export async function register(factory: Api, schematic: string): Promise<string> {
  return await callApi(
    factory,
    "/schematics",
    { method: "POST", body: schematic },
    { read: idIn, words: ({ body }) => `: ${firstLine(body)}` },
  );
}

/** The names of the extensions that the factory has for a version of Talos, as in `siderolabs/iscsi-tools`. */
export async function officialExtensions(factory: Api, talosVersion: string): Promise<readonly string[]> {
  return await callApi(
    factory,
    `/version/v${talosVersion}/extensions/official`,
    {},
    { read: namesIn, words: ({ body }) => `: ${firstLine(body)}` },
  );
}

function namesIn(body: string): readonly string[] | undefined {
  const listed = parsedJson(body);
  return Array.isArray(listed) ? listed.map((one) => text(record(one).name)) : undefined;
}

function idIn(body: string): string | undefined {
  const { id } = (parsedJson(body) ?? {}) as { readonly id?: unknown };
  return typeof id === "string" ? id : undefined;
}

function firstLine(body: string): string {
  return body.trim().split("\n")[0]?.slice(0, 200) || "nothing";
}
