import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { maxFileBytes } from './size.ts';
import { read } from '../policy/failures/errorChain.ts';
import { checkObject } from '../policy/options/options.ts';
import { checkToolCallRetry, type ToolCallRetryOptions } from '../policy/toolCallRetry.ts';
import { readForeignPattern } from './readPattern.ts';

/** Options of an `openclaw.json` for the runtime: to be spread into those of `createGateway`. */
export interface OpenClawOptions {
  /** Options of the new tries of sessions' tool calls, where the file says so. */
  readonly toolCallRetry?: ToolCallRetryOptions | undefined;
}

/**
 * Reads `gateway.toolCallRetry` of an `openclaw.json` (JSON5, as OpenClaw reads it), of at most 1 MB. A file that is not there says nothing.
 * A pattern in it is text or the source of a regular expression, as `readPattern` has it; one that does not compile is looked for as
 * text.
 * @param path - @defaultValue `~/.openclaw/openclaw.json`
 * @param onWarning - told of each pattern that does not compile. @defaultValue `process.emitWarning`
 * @throws SyntaxError that names the file and the place when it is no JSON5, or gives a key of ours twice, TypeError or RangeError that names file, option
 * and value when an option is wrong, and what the file system reports when it cannot be read.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite', ...(await readOpenClawConfig()) });
 */
export async function readOpenClawConfig(
  path: string = join(homedir(), '.openclaw', 'openclaw.json'),
  onWarning: (warning: string) => void = (warning) => process.emitWarning(warning),
): Promise<OpenClawOptions> {
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) throw new RangeError(`${path}: is larger than ${maxFileBytes} bytes`);
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    const config = await parse(text);
    await refuseRepeated(text);
    return await optionsIn(config, (warning) => onWarning(`${path}: ${warning}`));
  } catch (error) {
    // The error keeps its class, so that a wrong type and a wrong value stay told apart.
    if (error instanceof Error) error.message = `${path}: ${error.message}`;
    throw error;
  }
}

async function parse(text: string): Promise<unknown> {
  const { default: JSON5 } = await import('json5');
  try {
    return JSON5.parse<unknown>(text);
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message.replace(/^JSON5: /, '') : 'not JSON5');
  }
}

/** All but the last of them would be lost without a word. */
async function refuseRepeated(text: string): Promise<void> {
  const { repeatedInOpenClaw } = await import('./openClaw.ts');
  const [found] = repeatedInOpenClaw(text);
  if (found === undefined) return;
  const { path, first, last } = found;
  const key = ['gateway', ...path].join('.');
  throw new SyntaxError(`${key} is given at ${first.line}:${first.column} and again at ${last.line}:${last.column}`);
}

async function optionsIn(config: unknown, onWarning: (warning: string) => void): Promise<OpenClawOptions> {
  checkObject('config', config);
  const { gateway } = config as { readonly gateway?: unknown };
  if (gateway === undefined) return {};
  checkObject('gateway', gateway);
  const { toolCallRetry } = gateway as { readonly toolCallRetry?: unknown };
  if (toolCallRetry === undefined) return {};
  const compiled = await withPatterns(toolCallRetry, onWarning);
  checkToolCallRetry(compiled);
  return { toolCallRetry: compiled };
}

/** Whatever else is wrong is left for the check. */
async function withPatterns(options: unknown, onWarning: (warning: string) => void): Promise<ToolCallRetryOptions> {
  const patterns = read(options, 'transientPatterns');
  if (!Array.isArray(patterns)) return options as ToolCallRetryOptions;
  const reading = patterns.map((each, index) =>
    readForeignPattern(`toolCallRetry.transientPatterns[${index}]`, each, onWarning),
  );
  return { ...(options as object), transientPatterns: await Promise.all(reading) };
}
