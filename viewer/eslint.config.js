import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules/", "eslint.config.js", "scripts/", "src/proto/"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname ?? process.cwd() } },
    rules: {
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      "max-params": ["error", 6],
      eqeqeq: "error",
      "no-restricted-properties": ["error", { property: "innerHTML", message: "Build elements: text of recordings must not become markup." }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Indices of typed arrays are in range by construction; a check for each would hide the arithmetic.
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  {
    files: ["tests/**"],
    // node:test returns promises of tests that the runner itself awaits.
    rules: { "@typescript-eslint/no-floating-promises": "off", "max-lines-per-function": "off" },
  },
);
