// The servers of a project, as the Hetzner API lists them.
import { type HetznerApi, hetznerList } from "./hetznerApi.ts";

export interface HetznerServer {
  readonly name: string;
  readonly serverType: string;
  /** Absent if the API does not report one. */
  readonly location?: string;
  /** The public address. */
  readonly ipv4: string;
}

export async function hetznerServers(api: HetznerApi): Promise<readonly HetznerServer[]> {
  return (await hetznerList(api, "servers")).map((server) => {
    const { name, server_type, location, datacenter, public_net } = server as ServerView;
    const place = location?.name ?? datacenter?.location.name;
    return {
      name,
      serverType: server_type.name,
      ...(place !== undefined && { location: place }),
      ipv4: public_net.ipv4?.ip ?? "",
    };
  });
}

interface ServerView {
  readonly name: string;
  readonly server_type: { readonly name: string };
  readonly location?: { readonly name: string };
  /** The location was in this field before 2026. */
  readonly datacenter?: { readonly location: { readonly name: string } } | null;
  readonly public_net: { readonly ipv4?: { readonly ip: string } | null };
}
