// What a person can do with the dev environment once it is up: commands that work when typed, in this order.
import { join, relative } from "node:path";
import { labCommand } from "../lab/call.ts";
import { root, workFolder } from "../workspace/paths.ts";

interface Steps {
  readonly title: string;
  readonly commands: readonly string[];
}

/** `lab` is the one that it runs on. */
export function nextSteps(environment: string, lab: string | undefined): string {
  const steps = [
    ...(lab === undefined ? [] : onLab(environment, lab)),
    {
      title: "An environment of your own, and what it would be; this takes no account",
      commands: ["cp Pulumi.home.yaml Pulumi.mine.yaml", "npm run preview -- mine"],
    },
    {
      title: "Take it away again",
      commands: [`npm run destroy -- ${environment}`, ...(lab === undefined ? [] : [labCommand(lab, "down")])],
    },
  ];
  const lines = steps.flatMap(({ title, commands }) => [`  ${title}:`, ...commands.map((command) => `    ${command}`)]);
  return ["", "Next:", ...lines].join("\n");
}

function onLab(environment: string, lab: string): Steps[] {
  const inLab = (command: string) => labCommand(lab, "exec", "--", command);
  const fault = (...words: readonly string[]) => labCommand(lab, "fault", ...words);
  const folder = relative(root, workFolder);
  const sample = join(folder.startsWith("..") ? workFolder : folder, "sample");
  const controlPlane = `--subject ${environment}-cp-3`;
  return [
    {
      title: "Look at it; talosctl and helm are there too",
      commands: [inLab("kubectl get nodes"), `npm run pulumi -- stack output gates --stack ${environment}`],
    },
    {
      title: "Commit to the repository that it is made from, and Flux applies that",
      commands: [
        inLab(`git clone --quiet http://192.0.2.30/sample.git ${sample}`),
        `sed -i 's/replicas: 2/replicas: 3/' ${sample}/apps/hello/deployment.yaml`,
        `git -C ${sample} -c user.name=me -c user.email=me@example.com commit --quiet --all --message 'One more'`,
        inLab(`git -C ${sample} push --quiet`),
        inLab(
          "kubectl --namespace hello wait deployment hello --for='jsonpath={.status.readyReplicas}=3' --timeout=1m",
        ),
      ],
    },
    {
      title: "Take a control plane its power, let it hang at its boot, and see which gates hold no more",
      commands: [
        fault("add --id stuck --on stage --name booting", controlPlane, "--do hold"),
        fault("add --on machine", controlPlane, "--do crash --times 1"),
        `npm run refresh -- ${environment} --yes --skip-preview --suppress-outputs`,
      ],
    },
    {
      title: "Mend it, and have those gates waited for again",
      commands: [fault("remove stuck"), `npm run up -- ${environment} --yes --skip-preview --suppress-outputs`],
    },
  ];
}
