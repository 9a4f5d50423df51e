import { readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import JSON5 from 'json5';
import { formatDuration } from '../policy/text/duration.ts';
import { plainJson } from '../policy/text/sanitize.ts';
import { readString } from '../policy/failures/errorChain.ts';
import { isPlainObject } from './layers.ts';
import { excessOf, maxFileBytes } from './size.ts';

/** The names of a configuration file, of which a directory may have one. */
const fileNames = ['unwedge.config.mjs', 'unwedge.config.js', 'unwedge.config.json'] as const;

/** A file says no configuration, and why. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}

/** The configuration files of a directory. */
export async function findConfigFiles(directory: string): Promise<readonly string[]> {
  const files = fileNames.map((name) => join(directory, name));
  const found = await Promise.all(
    files.map(async (file) =>
      stat(file).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_, index) => found[index]);
}

/** Content of a configuration file. */
interface ConfigFile {
  readonly value: Readonly<Record<string, unknown>>;
  /** The text of a JSON file. */
  readonly text?: string | undefined;
}

/**
 * Reads a JSON file (comments and trailing commas allowed, as JSON5 has it), or runs a module: its default export is the
 * configuration, or a function that gives it.
 * @param limitMs - after which a module that does not end is given up.
 * @throws {@link ConfigFileError} when it gives no configuration.
 */
export async function readConfigFile(file: string, limitMs = 30_000): Promise<ConfigFile> {
  const extension = extname(file);
  if (extension === '.json') {
    const text = await textOf(file);
    return { value: objectOf(parseJson(text)), text };
  }
  if (extension !== '.mjs' && extension !== '.js') {
    // That it is not there says more.
    await textOf(file);
    throw new ConfigFileError('expected a file that ends in .mjs, .js or .json');
  }
  await textOf(file);
  const given = await within(limitMs, exported(file));
  return { value: objectOf(dataIn(file, given)) };
}

/** The text of a file. @throws {@link ConfigFileError} when it cannot be read. */
export async function textOf(file: string): Promise<string> {
  try {
    // Opening a pipe waits for its writer, and cannot be interrupted.
    const found = await stat(file);
    if (!found.isFile() && !found.isDirectory()) throw new ConfigFileError('cannot be read: it is no regular file');
    if (found.size > maxFileBytes) throw new ConfigFileError(`is larger than ${maxFileBytes} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof ConfigFileError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'there is no such file', EISDIR: 'it is a directory', EACCES: 'it may not be read' }[
      code ?? ''
    ];
    throw new ConfigFileError(`cannot be read: ${why ?? code ?? messageOf(error)}`, { cause: error });
  }
}

/** JSON5. @throws {@link ConfigFileError} that says where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON5.parse<unknown>(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ConfigFileError(`is no JSON: ${plainJson(messageOf(error).replace(/^JSON5: /, ''))}`, { cause: error });
  }
}

async function exported(file: string): Promise<unknown> {
  const { mtimeMs } = await stat(file);
  try {
    // A module is kept by its address: an edited file gets another one.
    const url = `${pathToFileURL(file).href}?${mtimeMs}`;
    const module = (await import(/* @vite-ignore */ url)) as { readonly default?: unknown };
    if (module.default === undefined) throw new ConfigFileError('has no default export');
    if (typeof module.default !== 'function') return module.default;
    const given: unknown = await (module.default as () => unknown)();
    return given;
  } catch (error) {
    throw thrownIn(file, error);
  }
}

/** Returns the data that a module gave, without parts that run when looked at, or look different the second time. */
function dataIn(file: string, given: unknown): unknown {
  try {
    return plainCopy(given);
  } catch (error) {
    throw thrownIn(file, error);
  }
}

function thrownIn(file: string, error: unknown): ConfigFileError {
  if (error instanceof ConfigFileError) return error;
  return new ConfigFileError(`${placeIn(file, error)}threw ${messageOf(error)}`, { cause: error });
}

/** The place in the file that the stack of an error names. */
function placeIn(file: string, error: unknown): string {
  const stack = readString(error, 'stack') ?? '';
  const from = stack.indexOf(`/${basename(file)}?`);
  const [, place] = (from < 0 ? null : /^[^:\s]*:(\d+(?::\d+)?)/.exec(stack.slice(from, from + 500))) ?? [];
  return place === undefined ? '' : `(line ${place}) `;
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = new ConfigFileError(`gave no configuration within ${formatDuration(limitMs)}`);
    timer = setTimeout(() => reject(late), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function objectOf(value: unknown): ConfigFile['value'] {
  const excess = excessOf(value);
  if (excess !== undefined) throw new ConfigFileError(excess);
  if (isPlainObject(value)) return value;
  const got = value === null ? 'null' : Array.isArray(value) ? 'an array' : kindOf(value);
  throw new ConfigFileError(`expected an object, got ${got}`);
}

function kindOf(value: unknown): string {
  return typeof value === 'object' ? 'an object of a class' : typeof value;
}

/** Anything can be thrown. */
function messageOf(error: unknown): string {
  const message = readString(error, 'message');
  if (message === undefined) return typeof error === 'object' && error !== null ? 'an object' : String(error);
  const name = readString(error, 'name') ?? 'Error';
  return `${name}: ${message}`.split('\n', 1)[0] ?? name;
}

/** No configuration is as deep. */
const deepest = 50;

/**
 * A copy of plain objects and arrays, each getter and trap asked once; what else there is stays itself.
 * @throws whatever a getter or a trap throws.
 */
function plainCopy(value: unknown): unknown {
  const copies = new Map<unknown, unknown>();
  const copy = (each: unknown, depth: number): unknown => {
    const known = copies.get(each);
    // A value that holds itself does so in the copy.
    if (known !== undefined || depth > deepest) return known;
    if (Array.isArray(each)) {
      const items: unknown[] = [];
      copies.set(each, items);
      for (const item of each as readonly unknown[]) items.push(copy(item, depth + 1));
      return items;
    }
    if (!isPlainObject(each)) return each;
    const fields: Record<string, unknown> = {};
    copies.set(each, fields);
    for (const [key, field] of Object.entries(each)) {
      const own = { value: copy(field, depth + 1), enumerable: true, writable: true, configurable: true };
      // An assignment to `__proto__` would change what the object is.
      Object.defineProperty(fields, key, own);
    }
    return fields;
  };
  return copy(value, 0);
}
