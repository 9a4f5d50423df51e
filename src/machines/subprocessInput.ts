import { programForm } from '../policy/commandText.ts';
import type { Readable } from 'node:stream';
import type { RegisterChild } from '../policy/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import type { Duration } from '../policy/duration.ts';
import {
  boolean,
  callback,
  choice,
  duration,
  integer,
  type KeysOf,
  list,
  type Tell,
  test,
  text,
  type Values,
  variables,
} from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';

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
   * Base that `env` adds to: the whole environment of the runtime (`extend`); HOME, LOGNAME, PATH, SHELL, TERM and USER, or on Windows their like, with places of
   * certificates and proxies without a password (`safe`); nothing (`only`). @defaultValue the gateway's `environment`, which is 'extend' unless it is set
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
  /** Leaves the child in the process group and session of the runtime, as a command needs that reads from its terminal. @defaultValue false */
  readonly sharesGroup?: boolean | undefined;
  /** Limit on the whole run, in ms, above 0. @defaultValue no limit */
  readonly overallMs?: Duration | undefined;
  /** Limit without output or progress, in ms, above 0; leave it out for a command that prints only at its end. @defaultValue no limit */
  readonly idleMs?: Duration | undefined;
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: Duration | undefined;
  /** Limit on the bytes of both streams together, at least 1. Memory is bounded with or without it. @defaultValue no limit */
  readonly maxOutputBytes?: number | undefined;
  /**
   * Time that the output may bring nothing after the exit while a process that the command started holds it, in ms, at least 0. Only turns of the event loop
   * count that asked for more. Then it is given up, which is a failure. @defaultValue 2000
   */
  readonly drainMs?: Duration | undefined;
  /**
   * Hears all output as it comes and may keep `chunk`. While a promise that it returned is pending, that stream is not read: a child
   * that goes on writing waits. Once it throws, that is told and it is not called again.
   */
  readonly onOutput?: ((chunk: Uint8Array, stream: OutputStream) => unknown) | undefined;
  /** Told of the process once it runs, so that the next runtime can end it should this one die. */
  readonly register?: RegisterChild | undefined;
  /** Name that messages for people give it, as the subject of a sentence. @defaultValue 'CLI' */
  readonly calledAs?: string | undefined;
  readonly clock: Clock;
}

export type OutputStream = 'stdout' | 'stderr';

const texts = 'an array of strings';

/** Options that say what a command is run with, and where. */
export const commandKeys = {
  command: text({ ...programForm, required: true, help: 'Path, or name to look up on the PATH.' }),
  args: list(text({ empty: true }), { expected: texts, inherited: [], help: 'Reach the program literally.' }),
  cwd: text({ usually: 'the working directory', help: 'Where it runs.' }),
  env: { ...variables, inherited: {}, help: 'Variables set for it.' },
  envMode: choice(['extend', 'safe', 'only'], {
    usually: '`environment`',
    help: 'What `env` adds to: the whole environment, HOME, PATH and their like, certificates and proxies alone, or nothing.',
  }),
  envAllow: list(text(), {
    expected: texts,
    usually: 'all; none more with `safe`',
    help: 'Variables of the environment that it gets, beside `env`: with `safe` more than the safe ones, else these alone; not with `only`.',
  }),
} satisfies KeysOf<CommandOptions>;

type CommandOptions = Pick<SubprocessInput, 'command' | 'args' | 'cwd' | 'env' | 'envMode' | 'envAllow'>;

/** Refuses variables to pass where none does. */
export function commandRule({ envAllow, envMode }: Pick<CommandOptions, 'envAllow' | 'envMode'>, tell: Tell): void {
  if (envAllow === undefined || envMode !== 'only') return;
  tell('envAllow', { says: 'to be left out with an `envMode` of "only"' });
}

/** Name in messages for a command of which nothing more is said. */
export const usualName = 'CLI';

/** Time that a command may take to end once it was told to. */
export const graceMs = duration({ zero: true, default: 5000 });
/** Most that a command may print. */
export const maxOutputBytes = integer({ unit: 'bytes' });

const inputKeys = {
  ...commandKeys,
  stdin: test<SubprocessInput['stdin']>('a string or bytes', isStdin),
  inherit: list(choice(['stdin', 'stdout']), { expected: texts }),
  sharesGroup: boolean(),
  overallMs: duration(),
  idleMs: duration(),
  graceMs,
  maxOutputBytes,
  drainMs: duration({ zero: true }),
  onOutput: callback<SubprocessInput['onOutput']>(),
  register: callback<RegisterChild>(),
  calledAs: text(),
} satisfies KeysOf<Omit<SubprocessInput, 'clock'>>;

/** {@link SubprocessInput}, checked; limits in ms. */
export interface SubprocessRun extends Values<typeof inputKeys>, Pick<SubprocessInput, 'clock'> {}

/** @throws TypeError or RangeError that names the first option that is not as documented, and its value. */
export function checkSubprocess({ clock, ...input }: SubprocessInput): SubprocessRun {
  return { ...readOptions('', input, inputKeys, commandRule), clock };
}

function isStdin(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof Uint8Array) return true;
  return typeof value === 'object' && value !== null && 'pipe' in value && typeof value.pipe === 'function';
}
