export { GetConfigurationArgs, GetConfigurationResult, GetConfigurationOutputArgs } from "./getConfiguration";
export declare const getConfiguration: typeof import("./getConfiguration").getConfiguration;
export declare const getConfigurationOutput: typeof import("./getConfiguration").getConfigurationOutput;
