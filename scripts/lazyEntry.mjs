// What Node alone is given of the library, beside what bundlers follow: a package of CommonJS without reading it for its exports, which takes
// Node 9 ms for xstate, and an entry whose functions load their part when they are first called. See "module-sync" in package.json.

/** In these two steps it is what tracers of files understand, who copy to a server what is loaded there. */
const importRequire = 'import { createRequire } from "node:module";';
const makeRequire = 'const require = createRequire(import.meta.url);';

/**
 * An ES module that gives the exports of a package of CommonJS, the same as an import of it does.
 * @param {string} name - of the package.
 * @param {readonly { readonly code?: string }[]} output - the chunks that import it, as `#name`.
 */
export function requiredPackage(name, output) {
  const names = output.flatMap(({ code }) => importsOf(code ?? '').filter(({ from }) => from === `#${name}`));
  const unique = [...new Set(names.flatMap(({ bindings }) => bindings.map(({ exported }) => exported)))];
  const list = unique.sort((a, b) => a.localeCompare(b)).join(', ');
  return `${importRequire}\n${makeRequire}\nexport const { ${list} } = require("${name}");\n`;
}

/**
 * The entry again, with functions in place of the imports of parts that can wait. Loading a part at a call is synchronous; as nothing
 * else than such a call may begin to load it, it is never found half loaded ({@link refuseShared}).
 * @param {string} code - the entry as bundled: imports, and one list of exports.
 * @param {(file: string) => boolean} waits - whether a part is loaded later; all it exports by the entry are functions.
 */
export function lazyEntry(code, waits) {
  const imports = importsOf(code);
  const kept = imports.filter(({ from }) => !waits(from)).map(({ text }) => text);
  const functions = imports
    .filter(({ from }) => waits(from))
    .flatMap(({ from, bindings }) => bindings.map((each) => ({ from, ...each })))
    .map(
      ({ from, exported, local }) =>
        `function ${local}(...given) {\n\treturn require("${from}").${exported}(...given);\n}`,
    );
  const list = code.split('\n').filter((line) => line.startsWith('export {'));
  return `${[importRequire, ...kept, makeRequire, ...functions, ...list].join('\n')}\n`;
}

/**
 * Refuses a part that waits and that something else would load too, perhaps at the same time: an entry, or an `import()` from outside of it.
 * @param {readonly { fileName: string, imports: string[], dynamicImports: string[], isEntry: boolean }[]} chunks
 * @param {(file: string) => boolean} waits
 * @throws Error that names both.
 */
export function refuseShared(chunks, waits) {
  const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const loadedWith = (fileName, seen = new Set()) => {
    if (!named.has(fileName) || seen.has(fileName)) return seen;
    seen.add(fileName);
    for (const each of named.get(fileName).imports) loadedWith(each, seen);
    return seen;
  };
  const refuse = (fileName, loaded) => {
    for (const part of loadedWith(fileName)) {
      if (waits(part) && !loaded.has(part)) throw new Error(`${fileName} loads ${part}, which is to wait for a call`);
    }
  };
  for (const { fileName, isEntry, dynamicImports } of chunks) {
    if (isEntry && fileName !== 'index.js') refuse(fileName, new Set());
    for (const each of dynamicImports) refuse(each, loadedWith(fileName));
  }
}

/** The imports of what the bundler has written, each on a line of its own. */
function importsOf(code) {
  return [...code.matchAll(/^import \{ (.*) \} from "(.*)";$/gm)].map(([text, list, from]) => ({
    text,
    from,
    bindings: list.split(', ').map((item) => {
      const [exported, local = exported] = item.split(' as ');
      return { exported, local };
    }),
  }));
}
