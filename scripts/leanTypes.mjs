// Rolls a tree of .d.ts files up: a file for each entry, and one for what several entries lead to. What no entry leads to is left out: nobody
// can name it, and each declaration costs its download and its reading. What an entry exports is reached, and then what that names.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { plainOptions } from './plainOptions.mjs';

/** Path of the file for what several entries lead to. */
const shared = 'shared.d.ts';

/**
 * Puts the files of the entries in the place of all.
 * @param {string} tree - the directory of the files
 * @param {readonly string[]} entries - paths within it
 */
export function leanTypes(tree, entries) {
  const files = new Map();
  const open = (path) => files.get(path) ?? files.set(path, readDeclarations(tree, path)).get(path);
  const things = thingsOf(open);
  const exported = new Map(entries.map((entry) => [entry, things.exportsOf(entry)]));
  for (const [entry, names] of exported) {
    for (const [name, { thing }] of names) {
      reach(thing, entry);
      thing.public ??= name;
    }
  }
  const reached = things.all().filter(({ users }) => users.size > 0);
  nameAll(reached);
  const texts = [...entries, shared].map((home) => [home, textOf(home, exported, reached, open)]);
  for (const path of readdirSync(tree, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
    rmSync(posix.join(tree, path));
  }
  for (const [home, text] of texts) if (text !== '') writeFileSync(posix.join(tree, home), text);

  function reach(thing, entry) {
    if (thing.users.has(entry)) return;
    thing.users.add(entry);
    for (const { thing: used } of things.usesOf(thing)) reach(used, entry);
  }

  /** Gives each a name that no other has, nor anything that every file knows, and a file. What an entry exports keeps its name first. */
  function nameAll(all) {
    const taken = new Set(things.globals);
    const isPublic = (thing) => thing.public !== undefined;
    for (const thing of [...all.filter(isPublic), ...all.filter((each) => !isPublic(each))]) {
      const others = Array.from({ length: 9 }, (_, index) => `${thing.name}_${index + 2}`);
      thing.as = [thing.public ?? thing.name, ...others].find((name) => !taken.has(name));
      taken.add(thing.as);
      thing.home = thing.users.size === 1 ? [...thing.users][0] : shared;
    }
  }
}

/** What is declared or imported of a package, each once: `{ path, name, statements }` or `{ from, name }`. */
function thingsOf(open) {
  const known = new Map();
  /** Names that are declared nowhere here. */
  const globals = new Set();
  return { globals, exportsOf, usesOf, all: () => [...known.values()] };

  function thingAt(key, about) {
    const thing = known.get(key) ?? { ...about, users: new Set() };
    known.set(key, thing);
    return thing;
  }

  /** What a module exports by name, and whether as a type alone. */
  function exportsOf(path) {
    const { exports, stars } = open(path);
    const all = stars.flatMap((from) => [...exportsOf(resolve(path, from))]);
    return new Map([...all, ...[...exports.keys()].map((name) => [name, exportOf(path, name)])]);
  }

  function exportOf(path, name) {
    const { from, imported, local, isType } = open(path).exports.get(name) ?? {};
    if (local !== undefined) return { isType, thing: localOf(path, local) };
    if (from !== undefined) {
      const found = importOf(path, from, imported);
      return { ...found, isType: isType || found.isType };
    }
    return exportsOf(path).get(name) ?? fail(`${path} exports no ${name}`);
  }

  function importOf(path, from, name) {
    if (name === undefined) fail(`${path} takes all of ${from}`);
    return from.startsWith('.')
      ? exportOf(resolve(path, from), name)
      : { thing: thingAt(`${from} ${name}`, { from, name }) };
  }

  function localOf(path, name) {
    const { imports, declarations } = open(path);
    const imported = imports.get(name);
    if (imported !== undefined) return importOf(path, imported.from, imported.imported).thing;
    const statements = declarations.get(name);
    return statements && thingAt(`${path} ${name}`, { path, name, statements });
  }

  /** Where its declaration names what is declared elsewhere. */
  function usesOf(thing) {
    thing.uses ??= (thing.statements ?? []).flatMap((statement) =>
      namesIn(statement).flatMap(({ name, from, ...place }) => {
        const used = from === undefined ? localOf(thing.path, name) : importOf(thing.path, from, name).thing;
        if (used === undefined) globals.add(name);
        return used === undefined ? [] : [{ thing: used, statement, ...place }];
      }),
    );
    return thing.uses;
  }
}

const resolve = (path, from) => posix.join(posix.dirname(path), from.replace(/\.[tj]s$/, '.d.ts'));

function fail(message) {
  throw new Error(message);
}

/** What a file declares, imports and exports, by name. */
function readDeclarations(tree, path) {
  const read = (file) => readFileSync(posix.join(tree, file), 'utf8');
  const text = plainOptions(path, read(path), (from) => read(resolve(path, from)));
  const { program, errors } = parseSync(path, text, { lang: 'dts' });
  if (errors.length > 0) fail(`${path}: ${errors[0].message}`);
  const imports = new Map();
  const exports = new Map();
  const declarations = new Map();
  const stars = [];
  let end = 0;
  for (const statement of program.body) {
    const { type, source, specifiers = [], declaration, exportKind } = statement;
    statement.comment = text.slice(end, statement.start).trim();
    end = statement.end;
    if (type === 'ImportDeclaration') {
      for (const { local, imported } of specifiers)
        imports.set(local.name, { from: source.value, imported: imported?.name });
    } else if (type === 'ExportAllDeclaration') {
      stars.push(source.value);
    } else if (type === 'ExportNamedDeclaration' && declaration === null) {
      for (const specifier of specifiers) {
        const named = specifier.local.name;
        const of = source == null ? { local: named } : { from: source.value, imported: named };
        const isType = exportKind === 'type' || specifier.exportKind === 'type';
        exports.set(specifier.exported.name, { ...of, isType });
      }
    } else {
      const declared = declaration ?? statement;
      const name = nameOf(declared) ?? fail(`${path}: a ${declared.type} that is not understood`);
      declarations.set(name, [...(declarations.get(name) ?? []), statement]);
      if (declared !== statement) exports.set(name, { local: name, isType: false });
    }
  }
  return { text, imports, exports, declarations, stars };
}

function nameOf({ type, id, declarations }) {
  if (type === 'VariableDeclaration') return declarations.length === 1 ? declarations[0].id.name : undefined;
  return id?.type === 'Identifier' ? id.name : undefined;
}

/**
 * Names that a declaration uses and their places, but for those of members and parameters; of types that are imported in it, the modules too.
 * Parameters of types are among them: each is taken for a name that every file knows, so that nothing hides behind it.
 */
function namesIn(statement) {
  const names = [];
  visit(statement);
  return names;

  function visit(node, role) {
    if (Array.isArray(node)) for (const each of node) visit(each, role);
    else if (typeof node?.type === 'string') {
      const { type, name, start } = node;
      const isOwn = type === 'TSImportType' && node.source.value.startsWith('.');
      if (isOwn) {
        const first = firstOf(node.qualifier);
        names.push({ name: first?.name, from: node.source.value, start, end: first?.end });
      }
      if (type === 'Identifier' && role !== 'label') names.push({ name, start, end: start + name.length });
      for (const [key, value] of Object.entries(node)) {
        if (key === 'qualifier' && type === 'TSImportType') continue;
        visit(value, isLabel(node, key) ? 'label' : undefined);
      }
    }
  }
}

/** Whether an identifier there names a member or a parameter, and nothing that is declared elsewhere. */
const isLabel = ({ type, computed }, key) =>
  key === 'params' ||
  key === 'parameterName' ||
  (key === 'key' && computed !== true) ||
  (key === 'right' && type === 'TSQualifiedName');

const firstOf = (qualifier) => (qualifier?.type === 'TSQualifiedName' ? firstOf(qualifier.left) : qualifier);

/** The file of an entry, or the one that they share; empty when it holds nothing. */
function textOf(home, exported, reached, open) {
  const own = reached.filter((thing) => thing.home === home && thing.path !== undefined);
  const given = [...(exported.get(home) ?? [])];
  const isPlain = ([name, { thing, isType }]) =>
    own.includes(thing) && thing.as === name && !(isType && isValue(thing));
  const asked =
    home === shared ? takenOfShared(exported, reached) : given.filter(isPlain).map(([, { thing }]) => thing);
  const passed = given.filter((each) => !isPlain(each));
  const lines = [
    ...importsFor(home, new Set(own.flatMap(({ uses }) => uses.map(({ thing }) => thing)))),
    ...own.flatMap((thing) =>
      thing.statements.map((each) => declarationOf(thing, each, asked.includes(thing), open(thing.path).text)),
    ),
    ...listsOf(
      passed.map(([name, { thing, isType }]) => [`export ${isType ? 'type ' : ''}`, thing, name]),
      home,
    ),
  ];
  // Without the last line a file exports what it only declares.
  return lines.length === 0 ? '' : `${lines.join('\n')}\nexport {};\n`;
}

function takenOfShared(exported, reached) {
  const used = reached.filter(({ home, path }) => home !== shared && path !== undefined).flatMap(({ uses }) => uses);
  const given = [...exported.values()].flatMap((names) => [...names.values()]);
  return [...used, ...given].map(({ thing }) => thing).filter(({ home }) => home === shared);
}

const importsFor = (home, used) =>
  listsOf(
    [...used]
      .filter((thing) => thing.path === undefined || thing.home !== home)
      .map((thing) => ['import type ', thing, thing.as]),
    home,
  );

/** Statements that import or export, each with all it takes of one module. */
function listsOf(all, home) {
  const lists = new Map();
  for (const [words, thing, name] of all) {
    const own = thing.path === undefined ? thing.name : thing.as;
    const from = thing.path === undefined ? thing.from : thing.home === home ? '' : besideOf(home);
    const list = lists.get(`${words}${from}`) ?? { words, from, names: [] };
    list.names.push(own === name ? name : `${own} as ${name}`);
    lists.set(`${words}${from}`, list);
  }
  return [...lists.values()].map(
    ({ words, from, names }) => `${words}{ ${names.sort().join(', ')} }${from && ` from '${from}'`};`,
  );
}

const besideOf = (home) =>
  `${home.includes('/') ? '' : './'}${posix.relative(posix.dirname(home), shared).replace('.d.ts', '.js')}`;

const isValue = ({ statements }) =>
  statements.some((each) => !/^TS(?:Interface|TypeAlias)/.test((each.declaration ?? each).type));

/** A declaration as it stands in its new file; what nobody can name is not described. */
function declarationOf(thing, statement, isExported, text) {
  const { start, end } = statement.declaration ?? statement;
  let declared = text.slice(start, end);
  const places = thing.uses.filter((each) => each.statement === statement).sort((a, b) => b.start - a.start);
  for (const use of places) {
    declared = `${declared.slice(0, use.start - start)}${use.thing.as}${declared.slice(use.end - start)}`;
  }
  const comment = thing.public === undefined || statement.comment === '' ? '' : `${statement.comment}\n`;
  return `${comment}${isExported ? 'export ' : ''}${declared}`.replaceAll(/^(?: {4})+/gm, (indent) =>
    '\t'.repeat(indent.length / 4),
  );
}
