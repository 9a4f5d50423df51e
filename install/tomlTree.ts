import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import { DocumentError, emptyTable, type Field, type Node, type Table } from './tree.ts';

/** A list that grows with each `[[header]]`. */
interface OpenList {
  readonly kind: 'list';
  readonly items: Node[];
  readonly range: undefined;
}

/** The values of a TOML text and their places. @throws {@link DocumentError} */
export function readTomlTree(text: string): Table {
  const root = emptyTable();
  for (const item of parsed(text).body[0].body) {
    if (item.type === 'TOMLKeyValue') put(root, item, false);
    else {
      const table = headerTable(root, item);
      for (const field of item.body) put(table, field, false);
    }
  }
  return root;
}

/** Finds the end of the last field of the top level that has no header above it; undefined when there is none. @throws {@link DocumentError} */
export function topFieldsEnd(text: string): number | undefined {
  return parsed(text)
    .body[0].body.filter(({ type }) => type === 'TOMLKeyValue')
    .at(-1)?.range[1];
}

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.1' });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    // Its message may quote what stands there, which may be a secret.
    throw new DocumentError(`line ${error.lineNumber} is no TOML`);
  }
}

/** The table that a header opens; numbers in its path are places in arrays of tables. */
function headerTable(root: Table, header: AST.TOMLTable): Table {
  let at: Node = root;
  const path = header.resolvedKey;
  for (const [index, step] of path.entries()) {
    if (typeof step === 'number') {
      const { items } = at as OpenList;
      at = items[step] ??= emptyTable();
    } else {
      const isList = typeof path[index + 1] === 'number';
      at = child(at as Table, step, header, isList);
    }
  }
  return at as Table;
}

/** Defined by what is below it: a place of its own it has only where it is a value. */
function child(table: Table, key: string, from: AST.TOMLNode, isList: boolean): Node {
  const there = table.fields.get(key);
  if (there !== undefined) return there.value;
  const value: Node = isList ? { kind: 'list', items: [], range: undefined } : emptyTable();
  table.fields.set(key, { value, range: from.range, key: from.range, isInline: false });
  return value;
}

function put(table: Table, field: AST.TOMLKeyValue, isInline: boolean): void {
  const keys = field.key.keys;
  const last = keys.at(-1);
  if (last === undefined) return;
  let at = table;
  for (const key of keys.slice(0, -1)) at = child(at, nameOf(key), field, false) as Table;
  const entry: Field = { value: nodeOf(field.value), range: field.range, key: last.range, isInline };
  at.fields.set(nameOf(last), entry);
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value;
}

function nodeOf(node: AST.TOMLContentNode): Node {
  switch (node.type) {
    case 'TOMLArray':
      return { kind: 'list', items: node.elements.map(nodeOf), range: node.range };
    case 'TOMLInlineTable': {
      const table = emptyTable();
      for (const field of node.body) put(table, field, true);
      return table;
    }
    case 'TOMLValue':
      return {
        kind: 'scalar',
        value: node.kind === 'offset-date-time' || typeof node.value === 'object' ? undefined : node.value,
        range: node.range,
      };
  }
}
