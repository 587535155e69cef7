// Commits to the lab's sample repository, with git.
import type { Lab } from "./lab.ts";

const url = "http://192.0.2.30/sample.git";

/** Changes the newest state of the repository by a shell script that runs in it, and pushes. */
export async function commit(lab: Lab, script: string): Promise<void> {
  const lines = [
    'cd "$(mktemp -d)"',
    `git clone --quiet ${url} .`,
    "git config user.name me && git config user.email me@example.com",
    script,
    "git add --all && git commit --quiet --message 'A change' && git push --quiet",
    'rm -rf "$PWD"',
  ];
  await lab.said("sh", ["-e", "-u", "-c", lines.join("\n")]);
}
