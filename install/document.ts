import { type AST, getStaticJSONValue, parseJSON } from 'jsonc-eslint-parser';
import { parse as parseToml, TomlError } from 'smol-toml';
import { readTomlTree } from './tomlTree.ts';
import { applyEdits, DocumentError, emptyTable, type Node, type Scalar, type Table } from './tree.ts';
import { readYamlTree, readYamlValue } from './yamlTree.ts';

/** Format as the program that reads a file has it: `json` without comments, `jsonc` with comments alone, `json5` with all that JSON5 allows. */
export type Format = 'json' | 'jsonc' | 'json5' | 'toml' | 'yaml';

/** A configuration file, read. */
export interface Document {
  readonly format: Format;
  /** Without the byte order mark. */
  readonly text: string;
  readonly hasMark: boolean;
  readonly eol: '\n' | '\r\n';
  readonly root: Table;
}

const mark = '\uFEFF';

/**
 * Reads the bytes of a file as `format`, and with a second parser too, where there is one.
 * @throws {@link DocumentError} that says what is wrong with it.
 */
export function readDocument(bytes: Buffer, format: Format): Document {
  const whole = bytes.toString('utf8');
  if (!Buffer.from(whole, 'utf8').equals(bytes)) throw new DocumentError('it is not UTF-8');
  const hasMark = whole.startsWith(mark);
  const text = hasMark ? whole.slice(1) : whole;
  const root = readTree(text, format);
  if (format !== 'json5') readValue(text, format);
  if (root.kind !== 'table') throw new DocumentError('it is no object');
  return { format, text, hasMark, eol: /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n', root };
}

function readTree(text: string, format: Format): Node {
  if (format === 'yaml') return readYamlTree(text);
  return format === 'toml' ? readTomlTree(text) : readJsonTree(text);
}

/** The value of a text, by a parser that is not the one of {@link readDocument}, except for JSON5 and YAML. @throws {@link DocumentError} */
export function readValue(text: string, format: Format): unknown {
  if (format === 'yaml') return readYamlValue(text);
  if (format === 'toml') return parseTomlText(text);
  if (format === 'json5') return readJson5Value(text);
  return format === 'json'
    ? parseJson(text, 'comments or commas')
    : parseJson(withoutComments(text), 'commas or quotes');
}

function withoutComments(text: string): string {
  const comments = parsed(text).comments.map(
    ({ range: [start, end] = [0, 0] }) => ({ range: [start, end], text: ' ' }) as const,
  );
  return applyEdits(text, comments);
}

// The messages of both may quote what stands there, which may be a secret.
function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError(`it has ${what} that its program does not read`);
  }
}

function parseTomlText(text: string): unknown {
  try {
    return parseToml(text, { integersAsBigInt: true });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new DocumentError(`line ${error.line} cannot be checked`);
  }
}

/** Returns what is to be written. */
export function bytesOf(document: Document, text: string): Buffer {
  return Buffer.from(document.hasMark ? mark + text : text, 'utf8');
}

/** A string as a token of the file. */
export function tokenOf(value: string): string {
  return JSON.stringify(value);
}

/** The values of a JSON, JSONC or JSON5 text and their places. @throws {@link DocumentError} */
function readJsonTree(text: string): Node {
  return nodeOf(parsed(text).body[0].expression);
}

/** The value of a JSON5 text. @throws {@link DocumentError} */
function readJson5Value(text: string): unknown {
  return getStaticJSONValue(parsed(text));
}

function parsed(text: string): AST.JSONProgram {
  try {
    return parseJSON(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { lineNumber } = error as SyntaxError & { readonly lineNumber?: number };
    // Its message may quote what stands there, which may be a secret.
    throw new DocumentError(`line ${lineNumber ?? 1} is no JSON`);
  }
}

function nodeOf(expression: AST.JSONExpression | null): Node {
  if (expression === null) throw new DocumentError('a list has an empty place');
  switch (expression.type) {
    case 'JSONObjectExpression':
      return tableOf(expression);
    case 'JSONArrayExpression':
      return { kind: 'list', items: expression.elements.map(nodeOf), range: expression.range };
    case 'JSONLiteral':
      return { kind: 'scalar', value: plain(expression.value), range: expression.range };
    case 'JSONBinaryExpression':
    case 'JSONIdentifier':
    case 'JSONTemplateLiteral':
    case 'JSONUnaryExpression':
      return { kind: 'scalar', value: undefined, range: expression.range };
  }
}

function tableOf(expression: AST.JSONObjectExpression): Node {
  const table = emptyTable();
  for (const { key, value, range } of expression.properties) {
    const name = key.type === 'JSONIdentifier' ? key.name : String(key.value);
    // Programs differ in which of the two counts.
    if (table.fields.has(name))
      throw new DocumentError(`line ${key.loc.start.line}: the key ${JSON.stringify(name)} is there twice`);
    table.fields.set(name, { value: nodeOf(value), range, key: key.range, isInline: true });
  }
  return table;
}

function plain(value: unknown): Scalar['value'] {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : undefined;
}
