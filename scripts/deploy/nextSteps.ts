// What a user can do with the dev environment once it is up: commands that can be typed, in this order.
import { join, relative } from "node:path";
import { root, workFolder } from "../base/paths.ts";
import { labCommand } from "../lab/labCommand.ts";

interface Steps {
  readonly title: string;
  readonly commands: readonly string[];
}

/** `lab` is the lab that it runs on. */
export function nextSteps(environment: string, lab: string | undefined): string {
  const steps = [
    ...(lab === undefined ? [] : onLab(environment, lab)),
    {
      title: "Preview an environment of your own; this needs no account",
      commands: ["cp Pulumi.home.yaml Pulumi.mine.yaml", "npm run preview -- mine"],
    },
    {
      title: "Remove it again",
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
      title: "Inspect it; talosctl and helm work there too, and are built when they are first called",
      commands: [inLab("kubectl get nodes"), `npm run pulumi -- stack output gates --stack ${environment}`],
    },
    {
      title: "Commit to the repository that Flux reconciles it from",
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
      title: "Power off a control plane, block its boot, and see which gates are no longer healthy",
      commands: [
        fault("add --id stuck --on stage --name booting", controlPlane, "--do hold"),
        fault("add --on machine", controlPlane, "--do crash --times 1"),
        `npm run refresh -- ${environment} --yes --skip-preview --suppress-outputs`,
      ],
    },
    {
      title: "Remove the fault, and wait for those gates again",
      commands: [fault("remove stuck"), `npm run up -- ${environment} --yes --skip-preview --suppress-outputs`],
    },
  ];
}
