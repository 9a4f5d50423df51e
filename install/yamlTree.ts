import { type Alias, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { DocumentError, emptyTable, type Node, type Range, type Table } from './tree.ts';

/** The values of a YAML text and their places. What other places of it may share (anchors, aliases, tags) is not read. @throws {@link DocumentError} */
export function readYamlTree(text: string): Node {
  const { contents, ...source } = parsed(text);
  return contents === null ? emptyTable() : nodeOf(contents, source);
}

/** The value of a YAML text. @throws {@link DocumentError} */
export function readYamlValue(text: string): unknown {
  try {
    return parsed(text).toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new DocumentError('it has aliases that are not there, or too many of them');
  }
}

interface Source {
  readonly text: string;
  readonly lineAt: (at: number) => number;
  readonly targetOf: (alias: Alias) => unknown;
}

function parsed(text: string) {
  const lineCounter = new LineCounter();
  const lineAt = (at: number): number => lineCounter.linePos(at).line;
  const document = parseDocument(text, { lineCounter, prettyErrors: false, intAsBigInt: true });
  const [error] = document.errors;
  if (error === undefined) {
    const { contents } = document;
    const targetOf = (alias: Alias): unknown => alias.resolve(document);
    return { text, lineAt, targetOf, contents, toJS: (): unknown => document.toJS() };
  }
  const [at] = error.pos;
  // Its message may quote what stands there, which may be a secret.
  throw new DocumentError(`line ${lineAt(at)} ${faults[error.code] ?? 'is no YAML'}`);
}

const faults: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'has a key that is there twice',
  MULTIPLE_DOCS: 'begins a second document',
  TAB_AS_INDENT: 'is indented by a tab, which YAML does not allow',
};

function nodeOf(node: ParsedNode, source: Source): Node {
  const [start] = node.range;
  const end = endOf(node, source);
  const range: Range = [start, end];
  if (isAlias(node) && source.targetOf(node) === undefined)
    throw new DocumentError(`line ${source.lineAt(start)} has an alias of an anchor that is not there`);
  if (isAlias(node) || node.anchor !== undefined || node.tag !== undefined) {
    const why = `line ${source.lineAt(start)} has an anchor, an alias or a tag, by which a change would reach further`;
    return { kind: 'scalar', value: undefined, range, why };
  }
  if (isMap(node)) return tableOf(node.items, node.flow === true, source);
  if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => nodeOf(item as ParsedNode, source)), range };
  const value = isScalar(node) ? node.value : undefined;
  return { kind: 'scalar', value: plain(value), range };
}

/** Of a list or a table without brackets the parser has it in the next line. */
function endOf(node: ParsedNode, { text }: Source): number {
  const [start, end] = node.range;
  return isScalar(node) || isAlias(node) ? end : start + text.slice(start, end).trimEnd().length;
}

interface Pair {
  readonly key: ParsedNode;
  readonly value: ParsedNode | null;
}

function tableOf(pairs: readonly Pair[], isInline: boolean, source: Source): Table {
  const table = emptyTable();
  for (const { key, value } of pairs) {
    const [start, end] = key.range;
    const node: Node = value === null ? { kind: 'scalar', value: null, range: [end, end] } : nodeOf(value, source);
    const name = isScalar(key) ? String(key.value) : '';
    table.fields.set(name, {
      value: node,
      range: [start, value === null ? end : endOf(value, source)],
      key: [start, end],
      isInline,
    });
  }
  return table;
}

function plain(value: unknown): string | number | boolean | null | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : undefined;
}
