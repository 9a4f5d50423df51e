/** Offsets in UTF-16 units: from the first to the one after the last. */
export type Range = readonly [start: number, end: number];

/** A piece of text in the place of another; an insertion has an empty range. */
export interface TextEdit {
  readonly range: Range;
  readonly text: string;
}

/**
 * The text with all edits made at once. Their order does not matter.
 * @throws RangeError when two of them overlap: what is meant is not clear then.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let at = 0;
  for (const { range, text: piece } of inOrder(edits)) {
    const [start, end] = range;
    if (start < at) throw new RangeError(`Edits overlap at ${start}`);
    result += text.slice(at, start) + piece;
    at = end;
  }
  return result + text.slice(at);
}

/** By where they begin. */
export function inOrder(edits: readonly TextEdit[]): readonly TextEdit[] {
  return edits.toSorted((one, other) => one.range[0] - other.range[0] || one.range[1] - other.range[1]);
}

/** A value of a configuration file, with its place in the text: the same for JSON and TOML. */
export type Node = Table | List | Scalar;

/** An object of JSON, or a table of TOML, which may stand in several places. */
export interface Table {
  readonly kind: 'table';
  /** By key. A map, as a key may be `__proto__`. */
  readonly fields: Map<string, Field>;
}

export interface Field {
  readonly value: Node;
  /** Key and value. */
  readonly range: Range;
  /** The key; of a dotted key its last part. */
  readonly key: Range;
  /** True where the next field follows behind a comma; else it is on a line of its own. */
  readonly isInline: boolean;
}

interface List {
  readonly kind: 'list';
  readonly items: readonly Node[];
  /** With its brackets; undefined for an array of tables in TOML. */
  readonly range: Range | undefined;
}

export interface Scalar {
  readonly kind: 'scalar';
  /** Undefined for a value of a kind that we do not read. */
  readonly value: string | number | boolean | null | undefined;
  readonly range: Range;
  /** Why its value is not read. */
  readonly why?: string | undefined;
}

/** A string in a file. */
export type Text = Scalar & { readonly value: string };

/** A file cannot be read as what it should be; the message says what and where. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

export const emptyTable = (): Table => ({ kind: 'table', fields: new Map() });

export function isText(node: Node | undefined): node is Text {
  return node?.kind === 'scalar' && typeof node.value === 'string';
}

export function tableAt(node: Node | undefined, path: readonly string[]): Table | undefined {
  let at = node;
  for (const key of path) at = at?.kind === 'table' ? at.fields.get(key)?.value : undefined;
  return at?.kind === 'table' ? at : undefined;
}

/** The value of a field, when it is a plain one. */
export function scalarIn(table: Table, key: string): Scalar['value'] {
  const value = table.fields.get(key)?.value;
  return value?.kind === 'scalar' ? value.value : undefined;
}

/** The texts of a list; undefined when it is no list, or has anything else in it. */
export function textsOf(node: Node | undefined): readonly Text[] | undefined {
  if (node?.kind !== 'list' || !node.items.every(isText)) return undefined;
  return node.items;
}

export function numberIn(table: Table, key: string): number | undefined {
  const value = scalarIn(table, key);
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
