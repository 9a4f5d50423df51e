// Has most of the library be made by the first call that needs it, at once. Such a part is a function that is given what it imports: it imports
// nothing itself, as a loader that reads what is required as a copy of its own (tsx) would have copies of that as well.

/** @typedef {{ fileName: string, code?: string }} File - as the bundler writes it. */

const imports = /^import (?:(\* as )?([\w$]+)(?:, (?=\{))?)?(?:\{ ([^}]*) \})? ?from "([^"]+)";\n/gm;
const exported = /^export \{ ([^}]*) \};\n?/m;

/**
 * @template {File} T
 * @param {readonly T[]} output
 * @param {object} parts - names of files.
 * @param {ReadonlySet<string>} parts.atOnce - what the import of the library loads. It uses nothing of a part but functions, and those not before a call.
 * @param {ReadonlySet<string>} parts.asked - parts that are made with who imports them, where that is not of the import.
 * @param {ReadonlySet<string>} parts.called - parts of which nobody uses anything but functions. They are made a turn after the others at the latest: a process that
 * lives does not come to read what its package no longer has.
 * @returns {T[]} the same, changed.
 */
export function withLaterParts(output, { atOnce, asked, called }) {
  const parts = new Map([...called, ...asked].map((file) => [nameOf(file), file]));
  if (parts.size === 0) return [...output];
  const codes = new Map(output.map(({ fileName, code = '' }) => [nameOf(fileName), code]));
  const isOfImport = ({ fileName }) => atOnce.has(fileName) && fileName.includes('/');
  const imported = new Set(output.filter(isOfImport).flatMap(({ code }) => sourcesOf(code).map(nameOf)));
  const [host, ...more] = output.filter((file) => isOfImport(file) && !imported.has(nameOf(file.fileName)));
  if (host === undefined || more.length > 0) throw new Error('The import of the library has no last file');
  const toHost = (path) => path.replace(nameOf(path), nameOf(host.fileName));
  const given = new Set();
  let hosted;
  const files = output.map((file) => {
    const { fileName, code = '' } = file;
    const isPart = parts.has(nameOf(fileName));
    let [head, bindings] = [/^(?:#!.*\n)?/.exec(code)[0], ''];
    let body = code.slice(head.length).replace(imports, (line, star, whole, list = '', path) => {
      const from = parts.get(nameOf(path));
      const isNode = path.startsWith('node:');
      if (!isPart && from === undefined) head += line;
      if (!isPart && from !== undefined && file !== host)
        head += `import { ${makerOf(path)} } from "${toHost(path)}";\n`;
      if (isPart && !isNode) given.add(path);
      const value = !isPart
        ? `${makerOf(path)}()`
        : isNode
          ? `process.getBuiltinModule("${path}")`
          : `$given["${path}"]`;
      const byCall = called.has(from) || (atOnce.has(fileName) && from !== undefined);
      if (byCall) bindings += functions(list, value, codes.get(nameOf(path)));
      else if (isPart || from !== undefined) {
        const isAll = star !== undefined || isNode;
        if (whole !== undefined) bindings += `const ${whole} = ${value}${isAll ? '' : '.default'};\n`;
        if (list !== '') bindings += `const ${fields(list)} = ${value};\n`;
      }
      return '';
    });
    body = body.replace(/\bimport\("([^"]+)"\)/g, (whole, path) =>
      parts.has(nameOf(path)) ? `import("${toHost(path)}").then((host) => host.${makerOf(path)}())` : whole,
    );
    if (file === host) hosted = { ...file, head, body: bindings + body };
    if (!isPart) return { ...file, code: head + bindings + body };
    const [, names = ''] = exported.exec(body) ?? [];
    const made = `${bindings}${body.replace(exported, '')}return ${fields(names, true)};\n`;
    return { ...file, code: `export const part = function($given) {\n${made}};\n` };
  });
  const own = makersOf(parts, given, called);
  const code = `${hosted.head}${own.imports}${own.makers}${hosted.body}`;
  return files.map((file) => (file.fileName === host.fileName ? { ...file, code } : file));
}

/** What the host has more: what makes each part, once. */
function makersOf(parts, given, called) {
  const gifts = [...given].map((path, index) => ({ path, as: `$given${index}`, isPart: parts.has(nameOf(path)) }));
  const gift = gifts.map(({ path, as, isPart }) =>
    isPart ? `get "${path}"() { return ${makerOf(path)}(); }` : `"${path}": ${as}`,
  );
  const all = [...called].map((file) => `${makerOf(file)}();\n`).join('');
  const namespaces = gifts.filter(({ isPart }) => !isPart).map(({ path, as }) => `import * as ${as} from "${path}";\n`);
  const functions = [...parts.values()].map((file) => {
    const made = `${makerOf(file)}Made`;
    const making = `${called.has(file) ? '' : 'setImmediate($called).unref();\n'}${made} = laterPart("./${nameOf(file)}").part($given);`;
    return `let ${made};\nexport function ${makerOf(file)}() {\nif (${made} === undefined) {\n${making}\n}\nreturn ${made};\n}\n`;
  });
  return {
    imports: `import { laterPart } from "#later";\n${namespaces.join('')}`,
    makers: `const $given = { ${gift.join(', ')} };\nfunction $called() {\ntry {\n${all}} catch {}\n}\n${functions.join('')}`,
  };
}

/** Functions that call those of a part. */
function functions(list, maker, code) {
  const names = new Map(pairsOf(exported.exec(code)?.[1] ?? '').map(([own, as]) => [as, own]));
  return pairsOf(list)
    .map(([field, as]) => {
      const declared = new RegExp(`^(?:async )?function\\*? ${names.get(field)?.replaceAll('$', '\\$')}\\(`, 'm');
      if (!declared.test(code)) throw new Error(`${as} is no function: it cannot be of a part that is made later`);
      return `function ${as}(...words) {\nreturn ${maker}.${field}(...words);\n}\n`;
    })
    .join('');
}

/** The bindings of an import or export, as those of an object. */
const fields = (list, out = false) =>
  `{ ${pairsOf(list)
    .map(([a, b]) => (out ? `${b}: ${a}` : `${a}: ${b}`))
    .join(', ')} }`;

const pairsOf = (list) => list.split(', ').map((pair) => pair.split(' as ').concat(pair).slice(0, 2));
const sourcesOf = (code) => [...code.matchAll(imports)].map(([, , , , path]) => path);
const nameOf = (path) => path.split('/').at(-1);
const makerOf = (path) =>
  `$${nameOf(path)
    .replace(/-.{1,8}\.js$/, '')
    .replace(/\W/g, '_')}`;

/** Has a part that is a file be compiled as it is read, minified: V8 would read it once more. */
export const compiledAtOnce = (code) => code.replace(/^export const part=(function[^]*);$/, 'export const part=($1);');

/**
 * What gives a part where it can be required; stands in the file of xstate, which is loaded anyway. It keeps one descriptor for a process that has
 * run out of them: whoever calls a part for the first time then is not told of our files.
 */
export const requiredPart = `const { closeSync, openSync } = process.getBuiltinModule("node:fs");
let spare;
try {
  spare = openSync(process.execPath);
} catch {}
export function laterPart(path) {
  try {
    return require(path);
  } catch (error) {
    if (spare === undefined) throw error;
    closeSync(spare);
    spare = undefined;
    return require(path);
  }
}
`;

/** An ES module that does the same for who follows imports. @param {readonly string[]} files - names of the parts that are files. */
export function importedParts(files) {
  const lines = files.map((file, index) => `import * as part${index} from "./${nameOf(file)}";\n`);
  const parts = files.map((file, index) => `"./${nameOf(file)}": part${index}`).join(', ');
  return `${lines.join('')}const parts = { ${parts} };\nexport const laterPart = (path) => parts[path];\n`;
}
