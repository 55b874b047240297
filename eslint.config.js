import js from "@eslint/js";

export default [
  {
    files: ["src/evenhand/web/static/**/*.js"],
    ...js.configs.recommended,
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off", // TypeScript finds them
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: "Use shared/view.js: nothing is parsed as markup." })),
      ],
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
