import { text } from './command.ts';
import { ConfigError, type ConfigOptions } from '../src/config/face.ts';
import { CommandError } from './errors.ts';
import type { Io } from './io.ts';
import { exitCodes } from './run/exitCode.ts';
import { writeSync } from 'node:fs';
import { sanitize, toJson } from './sanitize.ts';

/** The option of commands that may be given a configuration. */
export const configOption = text(
  'FILE',
  'a configuration file, whose store and policies hold; else UNWEDGE_CONFIG, else none',
);

/**
 * Returns the part of a configuration for a command that stands before another one; see {@link wholeConfig}.
 * @throws {@link CommandError} with everything that is wrong.
 */
export async function namedConfig(
  file: string | undefined,
  io: ConfigIo,
  besides?: readonly string[],
): Promise<
  Pick<
    ConfigOptions,
    'store' | 'synchronous' | 'environment' | 'retention' | 'alerts' | 'policies' | 'agentProfiles' | 'inbox'
  >
> {
  const { store, synchronous, environment, retention, alerts, policies, agentProfiles, inbox } = await wholeConfig(
    file,
    io,
    besides,
  );
  return { store, synchronous, environment, retention, alerts, policies, agentProfiles, inbox };
}

/** That a command which raises no alerts was given some, for its user. @param command - its name. */
export function alertWords({ alerts }: Pick<ConfigOptions, 'alerts'>, command: string): readonly string[] {
  return alerts === undefined ? [] : [`the configuration has \`alerts\`, but \`unwedge ${command}\` raises none`];
}

type ConfigIo = Pick<Io, 'env' | 'endWithCommand'> & Partial<Pick<Io, 'signal'>>;

/**
 * The configuration of the file that `--config` or `UNWEDGE_CONFIG` names, and the environment with it. One that merely lies in the working
 * directory is not read: a module would be run wherever the command is.
 * @param besides - keys of the file that the command reads by itself. @defaultValue none
 * @throws {@link CommandError} with everything that is wrong.
 */
export async function wholeConfig(
  file: string | undefined,
  { env, endWithCommand, signal }: ConfigIo,
  besides?: readonly string[],
): Promise<ConfigOptions> {
  const named = configFile(file, env);
  if (named === undefined) return {};
  // A module that was run may leave timers behind.
  if (!named.endsWith('.json')) endWithCommand?.();
  // Only for commands that name one: it brings the tables of options.
  const { readConfig } = await import('../src/config/readConfig.ts');
  try {
    const read = () => readConfig({ file: named, env }, undefined, besides);
    const { options } = await duringModule({ file: named, exitCode: exitCodes.ownError, signal }, read);
    return options;
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message.replaceAll('\n', '; '), { cause: error });
    throw error;
  }
}

/** The file that `--config` or `UNWEDGE_CONFIG` names; undefined where neither does. */
export function configFile(file: string | undefined, env: Io['env']): string | undefined {
  return file ?? (env['UNWEDGE_CONFIG']?.trim() || undefined);
}

/** End of the process by the module of a configuration. */
interface ModuleExit {
  /** The file that is run, as it was given. */
  readonly file: string;
  /** Whatever code the module gave. */
  readonly exitCode: number;
  /** Aborted when the process was told to end: what it ends with is then not the module's doing. */
  readonly signal?: AbortSignal | undefined;
  /** Tells it as data on stdout. @defaultValue false: a line on stderr */
  readonly json?: boolean | undefined;
}

/** Runs what runs a module of somebody else's: if that ends the process, it must not pass for a success. */
export async function duringModule<T>(
  { file, exitCode, signal, json = false }: ModuleExit,
  work: () => Promise<T>,
): Promise<T> {
  const tell = (): void => {
    if (signal?.aborted === true) return;
    process.exitCode = exitCode;
    const message = `${sanitize(file)}: ended the process instead of giving a configuration`;
    const expected = 'a module that ends';
    const problem = { path: '', expected, source: { from: 'file', file }, message };
    try {
      if (json) writeSync(1, toJson({ ok: false, problems: [problem] }));
      else writeSync(2, `unwedge: ${message}\n`);
    } catch {
      // Nobody reads it; the exit code says it too.
    }
  };
  process.once('exit', tell);
  try {
    return await work();
  } finally {
    process.off('exit', tell);
  }
}
