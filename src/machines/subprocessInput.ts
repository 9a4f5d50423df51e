import type { Readable } from 'node:stream';
import type { RegisterChild } from '../policy/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import {
  checkBoolean,
  checkDuration,
  checkFunction,
  checkInteger,
  checkKeys,
  checkName,
  checkNumber,
  checkOneOf,
  checkTexts,
  show,
} from '../policy/options.ts';

/** A command to run and the limits it runs under. */
export interface SubprocessInput {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  readonly command: string;
  /** Reach the program literally. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** @defaultValue the working directory of the runtime */
  readonly cwd?: string | undefined;
  /**
   * Variables set for the child, beside what it inherits: by default the whole environment of the runtime, keys and tokens included
   * (`envMode`). One that is undefined is taken out. Secrets among them are kept out of everything that leaves the runtime. @defaultValue {}
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * What `env` adds to: the whole environment of the runtime (`extend`); HOME, LOGNAME, PATH, SHELL, TERM and USER, or on Windows their
   * like (`safe`); nothing (`only`). @defaultValue the gateway's `environment`, which is 'extend' unless it is set
   */
  readonly envMode?: 'extend' | 'safe' | 'only' | undefined;
  /**
   * Variables of the runtime's environment that pass to the child: beside the safe ones with `safe`, else these alone; not with `only`.
   * @defaultValue none more with `safe`, else all
   */
  readonly envAllow?: readonly string[] | undefined;
  /** Written to the child, then closed; a stream as it comes. Without it the child's stdin is closed from the start. */
  readonly stdin?: string | Uint8Array | Readable | undefined;
  /** Streams of the runtime that the child uses as its own; what it writes to such a one is not heard here. @defaultValue [] */
  readonly inherit?: readonly ('stdin' | 'stdout')[] | undefined;
  /** Whether the child stays in the process group and session of the runtime, as who reads from its terminal must. @defaultValue false */
  readonly sharesGroup?: boolean | undefined;
  /** Limit on the whole run, in ms, above 0. @defaultValue no limit */
  readonly overallMs?: number | undefined;
  /** Limit without output or progress, in ms, above 0; leave it out for a command that prints only at its end. @defaultValue no limit */
  readonly idleMs?: number | undefined;
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: number | undefined;
  /** Limit on the bytes of both streams together, at least 1. Memory is bounded with or without it. @defaultValue no limit */
  readonly maxOutputBytes?: number | undefined;
  /** How long to wait for the rest of the output after the exit, in ms, at least 0: a grandchild may hold the pipe. @defaultValue 200 */
  readonly drainMs?: number | undefined;
  /**
   * Hears all output as it comes and may keep `chunk`. While a promise that it returned is pending, that stream is not read: a child
   * that goes on writing waits. Once it throws, that is told and it is not called again.
   */
  readonly onOutput?: ((chunk: Uint8Array, stream: OutputStream) => unknown) | undefined;
  /** Told of the process once it runs, so that the next runtime can end it should this one die. */
  readonly register?: RegisterChild | undefined;
  readonly clock: Clock;
}

export type OutputStream = 'stdout' | 'stderr';

/**
 * The clock is left to who uses it.
 * @param prefix - comes before the names of the options in messages.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function checkSubprocess<T extends Omit<SubprocessInput, 'clock'>>(input: T, prefix = ''): T {
  const { args, cwd, env, envMode, envAllow, stdin, overallMs, idleMs, graceMs, maxOutputBytes, drainMs } = input;
  checkName(`${prefix}command`, input.command);
  if (args !== undefined) checkTexts(`${prefix}args`, args);
  if (cwd !== undefined) checkName(`${prefix}cwd`, cwd);
  if (env !== undefined) checkEnvironment(`${prefix}env`, env);
  if (envMode !== undefined) checkOneOf(`${prefix}envMode`, envMode, ['extend', 'safe', 'only']);
  if (envAllow !== undefined) checkAllowed(`${prefix}envAllow`, envAllow, envMode);
  if (stdin !== undefined && typeof stdin !== 'string' && !(stdin instanceof Uint8Array) && !isStream(stdin)) {
    throw new TypeError(`Expected \`${prefix}stdin\` to be a string or bytes, got ${show(stdin)}`);
  }
  if (overallMs !== undefined) checkDuration(`${prefix}overallMs`, overallMs);
  if (idleMs !== undefined) checkDuration(`${prefix}idleMs`, idleMs);
  if (graceMs !== undefined) checkNumber(`${prefix}graceMs`, graceMs);
  if (maxOutputBytes !== undefined) checkInteger(`${prefix}maxOutputBytes`, maxOutputBytes);
  if (drainMs !== undefined) checkNumber(`${prefix}drainMs`, drainMs);
  if (input.inherit !== undefined) {
    for (const stream of checkTexts(`${prefix}inherit`, input.inherit)) {
      checkOneOf(`${prefix}inherit`, stream, ['stdin', 'stdout']);
    }
  }
  if (input.sharesGroup !== undefined) checkBoolean(`${prefix}sharesGroup`, input.sharesGroup);
  for (const hook of ['onOutput', 'register'] as const) {
    if (input[hook] !== undefined) checkFunction(`${prefix}${hook}`, input[hook]);
  }
  return input;
}

const isStream = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'pipe' in value && typeof value.pipe === 'function';

function checkEnvironment(name: string, env: object): void {
  checkKeys(name, env, Object.keys(env ?? {}));
  for (const [variable, value] of Object.entries(env)) {
    if (variable === '' || variable.includes('=')) {
      throw new RangeError(`Expected \`${name}\` to hold names of variables, got ${show(variable)}`);
    }
    // The value may be a secret that was put in the wrong shape.
    if (value !== undefined && typeof value !== 'string') {
      throw new TypeError(`Expected \`${name}.${variable}\` to be a string, got ${typeof value}`);
    }
  }
}

function checkAllowed(name: string, allowed: unknown, envMode: SubprocessInput['envMode']): void {
  checkTexts(name, allowed).forEach((variable, index) => checkName(`${name}[${index}]`, variable));
  if (envMode === 'only') throw new RangeError(`Expected \`${name}\` to be left out with an \`envMode\` of "only"`);
}
