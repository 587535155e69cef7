/** @type {import("jest").Config} */
const shared = {
  testEnvironment: "node",
  extensionsToTreatAsEsm: [".ts"],
  transform: { "\\.ts$": "<rootDir>/tests/support/stripTypes.mjs" },
  modulePathIgnorePatterns: ["<rootDir>/.work/"],
};

export default {
  // By default Jest leaves one core to others, which of two is half.
  maxWorkers: "100%",
  projects: [
    { ...shared, displayName: "unit", testMatch: ["<rootDir>/tests/{stacks,components,scripts}/**/*.test.ts"] },
    { ...shared, displayName: "plugins", testMatch: ["<rootDir>/tests/plugins/**/*.test.ts"] },
    { ...shared, displayName: "engine", testMatch: ["<rootDir>/tests/engine/**/*.test.ts"] },
    { ...shared, displayName: "lab", testMatch: ["<rootDir>/tests/lab/**/*.test.ts"] },
    { ...shared, displayName: "reliability", testMatch: ["<rootDir>/tests/reliability/**/*.test.ts"] },
    { ...shared, displayName: "chain", testMatch: ["<rootDir>/tests/chain/**/*.test.ts"] },
  ],
};
