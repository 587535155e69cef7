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
  // Jest's own 5 s are too few for a test that starts a process, on a machine that others use too.
  testTimeout: 30_000,
  testSequencer: "<rootDir>/tests/support/longestFirst.mjs",
  projects: [
    {
      ...shared,
      displayName: "unit",
      testMatch: ["<rootDir>/tests/{stacks,components,scripts,structure}/**/*.test.ts"],
    },
    { ...shared, displayName: "plugins", testMatch: ["<rootDir>/tests/plugins/**/*.test.ts"] },
    { ...shared, displayName: "engine", testMatch: ["<rootDir>/tests/engine/**/*.test.ts"] },
    { ...shared, displayName: "lab", testMatch: ["<rootDir>/tests/lab/**/*.test.ts"] },
    { ...shared, displayName: "soak", testMatch: ["<rootDir>/tests/soak/**/*.test.ts"] },
    { ...shared, displayName: "bench", testMatch: ["<rootDir>/tests/bench/**/*.test.ts"] },
    { ...shared, displayName: "chain", testMatch: ["<rootDir>/tests/chain/**/*.test.ts"] },
    { ...shared, displayName: "variants", testMatch: ["<rootDir>/tests/variants/**/*.test.ts"] },
  ],
};
