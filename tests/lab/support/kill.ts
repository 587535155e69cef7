/** What tests kill, by its command line. */
export const killedPrograms = {
  engine: /^\S*\/pulumi (up|destroy) /,
  provider: /dynamic-provider/,
  talos: /pulumi-resource-talos/,
  hcloud: /pulumi-resource-hcloud/,
  kubernetes: /pulumi-resource-kubernetes/,
  proxmoxve: /pulumi-resource-proxmoxve/,
} as const;
export type KilledProgram = keyof typeof killedPrograms;
