// Takes out files that hold nothing, or only pass on what another has: each would be one more to load.

const facade = /^(?:\/\/[^\n]*\n)*export \{ ([^{}]*) \} from "\.\/([^"]+)";\s*$/;

const empty = /^(?:\/\/[^\n]*\n)*export \{\s*\};\s*$/;

/**
 * Has a part that is imported when it is needed be asked for where it stands.
 * @param {readonly { fileName: string, code?: string, isEntry?: boolean }[]} output
 * @returns the same without the files that nobody imports any more.
 */
export function withoutFacades(output) {
  const found = new Map();
  const empties = new Set(
    output.filter(({ code = '', isEntry }) => !isEntry && empty.test(code)).map(({ fileName }) => nameOf(fileName)),
  );
  for (const { fileName, code = '', isEntry } of output) {
    const [, names, target] = (!isEntry && facade.exec(code)) || [];
    if (target !== undefined) found.set(nameOf(fileName), { target, names: names.split(', ').map(pairOf) });
  }
  return output
    .filter(({ fileName }) => !found.has(nameOf(fileName)) && !empties.has(nameOf(fileName)))
    .map((chunk) => ({
      ...chunk,
      code: chunk.code
        ?.replace(imports, (whole, path, file) => direct(found.get(file), path) ?? whole)
        .replace(bare, (whole, file) => (empties.has(file) ? '' : whole)),
    }));
}

const imports = /\bimport\("((?:\.\.?\/)+(?:parts\/)?)([^"/]+)"\)/g;

const bare = /^import "(?:\.\.?\/)+(?:parts\/)?([^"/]+)";\n/gm;

function direct(facade, path) {
  if (facade === undefined) return undefined;
  const fields = facade.names.map(([name, as]) => `${as}: part.${name}`).join(', ');
  return `import("${path}${facade.target}").then((part) => ({ ${fields} }))`;
}

const nameOf = (fileName) => fileName.split('/').at(-1);

function pairOf(binding) {
  const [name, as = name] = binding.split(' as ');
  return [name, as];
}

/**
 * Puts the runtime of the bundler into the one file that needs it.
 * @template {{ fileName: string, code?: string }} T
 * @param {readonly T[]} output
 * @returns {T[]} the same without the file of the runtime, unless several need it.
 */
export function withRuntimeInlined(output) {
  const runtime = output.find(({ fileName }) => nameOf(fileName).startsWith('rolldown-runtime-'));
  if (runtime === undefined) return [...output];
  const asking = new RegExp(
    `^import \\{[^}]*\\} from "\\./${nameOf(runtime.fileName).replaceAll('.', '\\.')}";\\n`,
    'm',
  );
  const users = output.filter(({ code = '' }) => code.includes(nameOf(runtime.fileName)));
  const [user] = users;
  if (users.length !== 1 || !asking.test(user.code)) return [...output];
  const own = runtime.code.replace(/^export \{[^}]*\};\n?/m, '');
  return output
    .filter((each) => each !== runtime)
    .map((each) => (each === user ? { ...each, code: `${own}${each.code.replace(asking, '')}` } : each));
}
