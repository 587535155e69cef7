import type { GitSource } from "./flux.ts";

/** The content that Flux' source controller expects in a Secret. https://fluxcd.io/flux/components/source/gitrepositories/#secret-reference */
export function gitCredentials({
  username,
  password,
  sshKey,
  knownHosts,
}: Pick<GitSource, "username" | "password" | "sshKey" | "knownHosts">): Readonly<Record<string, string>> | undefined {
  if (sshKey !== undefined) return { identity: sshKey, known_hosts: knownHosts ?? "" };
  return password === undefined ? undefined : { username, password };
}
