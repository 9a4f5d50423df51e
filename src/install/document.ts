import { parse as parseToml, TomlError } from 'smol-toml';
import { readJson5Value, readJsonTree } from './jsonTree.ts';
import { readTomlTree } from './tomlTree.ts';
import { DocumentError, type Table } from './tree.ts';

/** Format as the program that reads a file has it: `json` without comments, `json5` with all that JSON5 and JSONC allow. */
export type Format = 'json' | 'json5' | 'toml';

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
  const root = format === 'toml' ? readTomlTree(text) : readJsonTree(text);
  if (format !== 'json5') readValue(text, format);
  if (root.kind !== 'table') throw new DocumentError('it is no object');
  return { format, text, hasMark, eol: /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n', root };
}

/** The value of a text, by a parser that is not the one of {@link readDocument}, except for JSON5. @throws {@link DocumentError} */
export function readValue(text: string, format: Format): unknown {
  if (format === 'json5') return readJson5Value(text);
  return format === 'json' ? parseJson(text) : parseTomlText(text);
}

// The messages of both may quote what stands there, which may be a secret.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError('it has comments or commas that its program does not read');
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
