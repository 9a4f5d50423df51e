/**
 * An ES module that gives the exports of a package of CommonJS, the same as an import of it does. For an import Node reads the package's files
 * for the names they export, which takes 9 ms for xstate. Who follows imports (bundlers, tracers) goes on to the package by `#name` in package.json.
 * @param {string} name - of the package.
 * @param {readonly { readonly code?: string }[]} output - the chunks that import it, as `#name`.
 * @param {readonly string[]} late - names that are asked of it where it is imported as the program runs. @defaultValue none
 */
export function requiredPackage(name, output, late = []) {
  const imports = new RegExp(`\\bimport ?\\{([^}]*)\\} ?from ?"#${name}"`, 'g');
  const names = output
    .flatMap(({ code = '' }) => [...code.matchAll(imports)])
    .flatMap(([, list]) => list.split(',').map((binding) => binding.trim().split(' as ')[0]));
  const unique = [...new Set([...names, ...late])].sort((a, b) => a.localeCompare(b)).join(', ');
  return `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
export const { ${unique} } = require("${name}");
`;
}
