import { programForm } from '../policy/text/commandText.ts';
import type { Readable } from 'node:stream';
import type { RegisterChild } from '../policy/records/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import {
  boolean,
  callback,
  choice,
  duration,
  integer,
  list,
  type Tell,
  test,
  text,
  type Values,
  variables,
  more,
  type Given,
} from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';

export type OutputStream = 'stdout' | 'stderr';

const texts = 'an array of strings';

/** Options that say what a command is run with, and where. */
export const commandKeys = {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  command: text({ ...programForm, required: true, help: 'Path, or name to look up on the PATH.' }),
  /** Reach the program literally. @defaultValue [] */
  args: list(text({ empty: true }), { expected: texts, inherited: [], help: 'Reach the program literally.' }),
  /** @defaultValue the working directory of the runtime */
  cwd: text({ usually: 'the working directory', help: 'Where it runs.' }),
  /**
   * Variables set for the child, beside what it inherits: by default the whole environment of the runtime, keys and tokens included
   * (`envMode`). One that is undefined is taken out. Secrets among them are kept out of everything that leaves the runtime. @defaultValue {}
   */
  env: more(variables, { inherited: {}, help: 'Variables set for it.' }),
  /**
   * Base that `env` adds to: the whole environment of the runtime (`extend`); HOME, LOGNAME, PATH, SHELL, TERM and USER, or on Windows their like, with places of
   * certificates and proxies without a password (`safe`); nothing (`only`). @defaultValue the gateway's `environment`, which is 'extend' unless it is set
   */
  envMode: choice(['extend', 'safe', 'only'], {
    usually: '`environment`',
    help: 'What `env` adds to: the whole environment, HOME, PATH and their like, certificates and proxies alone, or nothing.',
  }),
  /**
   * Variables of the runtime's environment that pass to the child: beside the safe ones with `safe`, else these alone; not with `only`.
   * @defaultValue none more with `safe`, else all
   */
  envAllow: list(text(), {
    expected: texts,
    usually: 'all; none more with `safe`',
    help: 'Variables of the environment that it gets, beside `env`: with `safe` more than the safe ones, else these alone; not with `only`.',
  }),
};

/** A command, and what it inherits. */
export interface CommandOptions extends Given<typeof commandKeys> {}

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

const ownInputKeys = {
  /** Written to the child, then closed; a stream as it comes. Without it the child's stdin is closed from the start. */
  stdin: test<string | Uint8Array | Readable>('a string or bytes', isStdin),
  /** Streams of the runtime that the child uses as its own; what it writes to such a one is not heard here. @defaultValue [] */
  inherit: list(choice(['stdin', 'stdout']), { expected: texts }),
  /** Leaves the child in the process group and session of the runtime, as a command needs that reads from its terminal. @defaultValue false */
  sharesGroup: boolean(),
  /** Limit on the whole run, in ms, above 0. @defaultValue no limit */
  overallMs: duration(),
  /** Limit without output or progress, in ms, above 0; leave it out for a command that prints only at its end. @defaultValue no limit */
  idleMs: duration(),
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  graceMs,
  /** Limit on the bytes of both streams together, at least 1. Memory is bounded with or without it. @defaultValue no limit */
  maxOutputBytes,
  /**
   * Time that the output may bring nothing after the exit while a process that the command started holds it, in ms, at least 0. Only turns of the event loop
   * count that asked for more. Then it is given up, which is a failure. @defaultValue 2000
   */
  drainMs: duration({ zero: true }),
  /**
   * Hears all output as it comes and may keep `chunk`. While a promise that it returned is pending, that stream is not read: a child
   * that goes on writing waits. Once it throws, that is told and it is not called again.
   */
  onOutput: callback<(chunk: Uint8Array, stream: OutputStream) => unknown>(),
  /** Told of the process once it runs, so that the next runtime can end it should this one die. */
  register: callback<RegisterChild>(),
  /** Name that messages for people give it, as the subject of a sentence. @defaultValue 'CLI' */
  calledAs: text(),
};

const inputKeys = { ...commandKeys, ...ownInputKeys };

/** A command to run and the limits it runs under. */
export interface SubprocessInput extends CommandOptions, Given<typeof ownInputKeys> {
  readonly clock: Clock;
}

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
