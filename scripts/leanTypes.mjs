// Leaves the declarations out of a tree of .d.ts files that no entry leads to: nobody can name them, and each costs its download and its
// reading. What an entry exports is reached, and then whatever a reached declaration names, by an import or in its own file.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { plainOptions } from './plainOptions.mjs';

/** @param entries Paths of .d.ts files within the tree. */
export function leanTypes(tree, entries) {
  const files = new Map();
  const open = (path) => files.get(path) ?? files.set(path, readDeclarations(tree, path)).get(path);
  for (const entry of entries) for (const name of open(entry).exports.keys()) reachExport(entry, name);
  for (const entry of entries) for (const from of open(entry).stars) reachAll(entry, from);
  for (const path of readdirSync(tree, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
    const file = files.get(path);
    if (file === undefined || file.kept.size === 0) rmSync(posix.join(tree, path));
    else writeFileSync(posix.join(tree, path), textOf(file));
  }

  function reachExport(path, name) {
    const file = open(path);
    const exported = file.exports.get(name);
    if (exported === undefined) {
      if (file.stars.length === 0) throw new Error(`${path} exports no ${name}`);
      for (const from of file.stars) reachExport(resolve(path, from), name);
      return;
    }
    keep(file, exported.statement, exported.specifier);
    if (exported.from !== undefined) reachFrom(path, exported.from, exported.imported);
    else reachLocal(path, exported.local);
  }

  function reachLocal(path, name) {
    const file = open(path);
    if (file.reached.has(name)) return;
    file.reached.add(name);
    const imported = file.imports.get(name);
    if (imported !== undefined) {
      keep(file, imported.statement, imported.specifier);
      reachFrom(path, imported.from, imported.imported);
    }
    for (const statement of file.declarations.get(name) ?? []) {
      keep(file, statement);
      reachNames(path, statement);
    }
  }

  function reachNames(path, statement) {
    const { names, modules } = namesIn(statement);
    for (const name of names) reachLocal(path, name);
    for (const { from, name } of modules) reachFrom(path, from, name);
  }

  function reachFrom(path, from, name) {
    if (!from.startsWith('.')) return;
    if (name === undefined) reachAll(path, from);
    else reachExport(resolve(path, from), name);
  }

  function reachAll(path, from) {
    if (!from.startsWith('.')) return;
    const target = resolve(path, from);
    for (const name of open(target).exports.keys()) reachExport(target, name);
    for (const further of open(target).stars) reachAll(target, further);
  }
}

const resolve = (path, from) => posix.join(posix.dirname(path), from.replace(/\.[tj]s$/, '.d.ts'));

function keep(file, statement, specifier) {
  const specifiers = file.kept.get(statement) ?? new Set();
  file.kept.set(statement, specifiers);
  if (specifier !== undefined) specifiers.add(specifier);
}

/** What a file declares, imports and exports, by name. */
function readDeclarations(tree, path) {
  const text = plainOptions(path, readFileSync(posix.join(tree, path), 'utf8'));
  const { program, errors } = parseSync(path, text, { lang: 'dts' });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const file = { text, body: program.body, kept: new Map(), reached: new Set(), stars: [] };
  const imports = new Map();
  const exports = new Map();
  const declarations = new Map();
  for (const statement of program.body) {
    const { type, source, specifiers = [], declaration } = statement;
    if (type === 'ImportDeclaration') {
      // One that brings no names is there for what it does.
      if (specifiers.length === 0) keep(file, statement);
      for (const specifier of specifiers) {
        const imported = specifier.type === 'ImportSpecifier' ? specifier.imported.name : undefined;
        imports.set(specifier.local.name, { statement, specifier, from: source.value, imported });
      }
    } else if (type === 'ExportAllDeclaration') {
      file.stars.push(source.value);
      keep(file, statement);
    } else if (type === 'ExportNamedDeclaration' && declaration === null) {
      for (const specifier of specifiers) {
        const named = specifier.local.name;
        const of = source == null ? { local: named } : { from: source.value, imported: named };
        exports.set(specifier.exported.name, { statement, specifier, ...of });
      }
    } else {
      const declared = type === 'ExportNamedDeclaration' ? declaration : statement;
      const names = namesOf(declared);
      if (names.length === 0) throw new Error(`${path}: a ${declared.type} that is not understood`);
      for (const name of names) {
        declarations.set(name, [...(declarations.get(name) ?? []), statement]);
        if (declared !== statement) exports.set(name, { statement, local: name });
      }
    }
  }
  return Object.assign(file, { imports, exports, declarations });
}

function namesOf({ type, id, declarations }) {
  if (type === 'VariableDeclaration') return declarations.map((each) => each.id.name);
  return id?.type === 'Identifier' ? [id.name] : [];
}

/** Names that a declaration uses, but for those of its own members and parameters, and the modules that it imports from in a type. */
function namesIn(statement) {
  const names = new Set();
  const modules = [];
  visit(statement);
  return { names, modules };

  function visit(node, role) {
    if (Array.isArray(node)) for (const each of node) visit(each, role);
    else if (typeof node?.type === 'string') {
      if (node.type === 'TSImportType') modules.push({ from: node.source.value, name: firstName(node.qualifier) });
      if (node.type === 'Identifier' && role !== 'label') names.add(node.name);
      for (const [key, value] of Object.entries(node)) {
        if (key === 'qualifier' && node.type === 'TSImportType') continue;
        visit(value, isLabel(node, key) ? 'label' : undefined);
      }
    }
  }
}

/** Whether an identifier there names a member or a parameter, and nothing that is declared elsewhere. */
const isLabel = ({ type, computed }, key) =>
  key === 'params' || (key === 'key' && computed !== true) || (key === 'right' && type === 'TSQualifiedName');

const firstName = (qualifier) => (qualifier?.type === 'TSQualifiedName' ? firstName(qualifier.left) : qualifier?.name);

/** The statements that are kept, each with the comment before it. */
function textOf({ text, body, kept }) {
  let end = 0;
  let lean = '';
  for (const statement of body) {
    const specifiers = kept.get(statement);
    if (specifiers !== undefined) {
      lean += text.slice(end, statement.start);
      lean +=
        specifiers.size === 0 ? text.slice(statement.start, statement.end) : withOnly(text, statement, specifiers);
    }
    end = statement.end;
  }
  // Without it the file would export what it only declares.
  return `${lean.trim()}\nexport {};\n`;
}

function withOnly(text, { specifiers, start, end }, kept) {
  if (kept.size === specifiers.length) return text.slice(start, end);
  const braced = specifiers.filter(({ type }) => type === 'ImportSpecifier' || type === 'ExportSpecifier');
  if (braced.length !== specifiers.length) return text.slice(start, end);
  const names = braced.filter((each) => kept.has(each)).map((each) => text.slice(each.start, each.end));
  return `${text.slice(start, braced[0].start)}${names.join(', ')}${text.slice(braced.at(-1).end, end)}`;
}
