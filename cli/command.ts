import type { Io } from './io.ts';

/** Choices for a word, for completion: these, or names that the database has. The command itself judges its words. */
export type Choices = readonly string[] | 'integrations' | 'sessions' | 'integrations or sessions';

/** An option of a command, and what its value becomes. */
export type OptionSpec =
  | { readonly kind: 'flag'; readonly help: string; readonly short?: string | undefined }
  | { readonly kind: 'text'; readonly value: string; readonly help: string; readonly choices?: Choices | undefined }
  /** May be given more than once; becomes what was given, in order. */
  | { readonly kind: 'list'; readonly value: string; readonly help: string; readonly choices?: Choices | undefined }
  /** Written like `500ms`, `30s`, `5m`, `1h`; a bare number is seconds. Becomes ms. */
  | { readonly kind: 'duration'; readonly help: string }
  /** An integer from `min` to `max`. @defaultValue of `min`: 1 */
  | {
      readonly kind: 'count';
      readonly min?: number | undefined;
      readonly max: number;
      readonly defaultValue: number;
      readonly help: string;
    };

/** Options by their long name, without the dashes. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** An option without a value. */
export const flag = (help: string, short?: string) => ({ kind: 'flag', short, help }) as const;

/** @param value - its name in the help. */
export const text = <const C extends Choices>(value: string, help: string, choices?: C) =>
  ({ kind: 'text', value, help, choices }) as const;

/** The same of an option that may be repeated. */
export const list = (value: string, help: string) => ({ kind: 'list', value, help }) as const;

export const duration = (help: string) => ({ kind: 'duration', help }) as const;

export const count = (min: number, max: number, defaultValue: number, help: string) =>
  ({ kind: 'count', min: min === 1 ? undefined : min, max, defaultValue, help }) as const;

type ValueOf<S extends OptionSpec> = S['kind'] extends 'flag'
  ? boolean
  : S['kind'] extends 'text'
    ? string | undefined
    : S['kind'] extends 'list'
      ? readonly string[]
      : S['kind'] extends 'duration'
        ? number | undefined
        : number;

type ValuesOf<O extends OptionSpecs> = { readonly [K in keyof O]: ValueOf<O[K]> };

/** Options of every command. */
export const commonOptions = {
  json: { kind: 'flag', help: 'print data for machines' },
  db: { kind: 'text', value: 'FILE', help: 'the database; else UNWEDGE_DB, else the one of the user' },
  help: { kind: 'flag', short: 'h', help: 'print this and exit' },
} as const satisfies OptionSpecs;

/** Arguments of a command: its own options and the common ones, and its words that are no options. */
export type Args<O extends OptionSpecs = Readonly<Record<never, OptionSpec>>> = ValuesOf<O> &
  Omit<ValuesOf<typeof commonOptions>, 'help'> & { readonly operands: readonly string[] };

/** Arguments of a command by its form. */
export type ArgsOf<F extends Form> = F extends Form<infer O> ? Args<O> : never;

/** Form of a command line, as data. */
export interface Form<O extends OptionSpecs = OptionSpecs> {
  /** Form in which it is written, without `unwedge`. */
  readonly usage: string;
  /** More for `--help`, in whole lines. */
  readonly details?: string | undefined;
  readonly options: O;
  /** Words that are no options, in order, by the name of each; those in brackets may be missing, the last ones; one with `...` may come again. @defaultValue none */
  readonly operands?: readonly string[] | undefined;
  /** Choices for the first operand. @defaultValue a file where it is called FILE, else not known */
  readonly choices?: Choices | undefined;
  /**
   * Takes the words after `--` as a command line of somebody else's; `bare`: without a `--` anywhere, also those from the first word on that is no option.
   * @defaultValue false
   */
  readonly takesCommand?: boolean | 'bare' | undefined;
  /** True where its stdout is somebody else's, so that it prints no data for machines. @defaultValue false */
  readonly ownsNoOutput?: boolean | undefined;
  /** Exit code of wrong usage and of what could not be done, where 1 and 2 mean something else. */
  readonly errorCode?: number | undefined;
}

/** A command, without its work until that is asked for. */
export interface Command<O extends OptionSpecs = OptionSpecs> extends Form<O> {
  readonly name: string;
  /** Purpose of it, in half a line. */
  readonly summary: string;
  /**
   * Does the work and gives the exit code.
   * @param rest - the words after `--`, of a command that takes a command line.
   * @throws {@link UsageError} for a wrong value (exit 2), {@link CommandError} when it cannot be done (exit 1).
   */
  run(args: Args<O>, io: Io, rest: readonly string[]): Promise<number>;
}

/** Types `run` by the options. Its name and its summary are those of the list of commands. */
export function defineCommand<const O extends OptionSpecs>(command: Unlisted<O>): Unlisted<O> {
  return command;
}

export type Unlisted<O extends OptionSpecs = OptionSpecs> = Omit<Command<O>, 'name' | 'summary'>;

/** Keeps the options of a form as they are written, so that the arguments are typed by them. */
export function defineForm<const O extends OptionSpecs>(form: Form<O>): Form<O> {
  return form;
}
