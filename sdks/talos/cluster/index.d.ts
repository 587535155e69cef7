export { GetHealthArgs, GetHealthResult, GetHealthOutputArgs } from "./getHealth";
export declare const getHealth: typeof import("./getHealth").getHealth;
export declare const getHealthOutput: typeof import("./getHealth").getHealthOutput;
export { GetKubeconfigArgs, GetKubeconfigResult, GetKubeconfigOutputArgs } from "./getKubeconfig";
export declare const getKubeconfig: typeof import("./getKubeconfig").getKubeconfig;
export declare const getKubeconfigOutput: typeof import("./getKubeconfig").getKubeconfigOutput;
export { KubeconfigArgs, KubeconfigState } from "./kubeconfig";
export type Kubeconfig = import("./kubeconfig").Kubeconfig;
export declare const Kubeconfig: typeof import("./kubeconfig").Kubeconfig;
