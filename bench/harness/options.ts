import { parseArgs } from 'node:util';
import { nearest } from '../../src/policy/text/nearest.ts';

/** What the command line asks for. */
export interface BenchOptions {
  /** Prints suites, compares the guarded ratios with those recorded, or records them. */
  readonly mode: 'run' | 'check' | 'record';
  /** At least one. */
  readonly suites: readonly string[];
  readonly json: boolean;
  readonly rounds: number;
  /** True where nobody says how many rounds: each suite has as many as there is time for. */
  readonly inTime: boolean;
  readonly quick: boolean;
  readonly help: boolean;
}

const words = {
  check: { type: 'boolean' },
  record: { type: 'boolean' },
  json: { type: 'boolean' },
  rounds: { type: 'string' },
  quick: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Rounds where nobody says how many. */
const usualRounds = { run: 5, check: 3, record: 5 };

/**
 * Reads the command line; `--help` wins over whatever is wrong beside it.
 * @throws RangeError of one line that names the suite, option or value.
 */
export function parseOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: words,
    allowPositionals: true,
    // Its own messages are several sentences long.
    strict: false,
    tokens: true,
  });
  if (values.help === true)
    return { mode: 'run', suites: known, json: false, rounds: 0, inTime: true, quick: false, help: true };
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(words, token.name)) throw unknown('option', token.rawName, optionNames);
    if (token.name !== 'rounds' && token.value !== undefined) {
      throw new RangeError(`Option ${token.rawName} takes no value, got ${JSON.stringify(token.value)}`);
    }
  }
  for (const suite of positionals) if (!known.includes(suite)) throw unknown('suite', suite, known);
  const quick = values.quick === true;
  const mode = values.check === true ? 'check' : values.record === true ? 'record' : 'run';
  if (mode !== 'run')
    refuseBeside(mode, [
      values.check === true && values.record === true && '--record',
      ...positionals,
      quick && '--quick',
    ]);
  return {
    mode,
    suites: positionals.length === 0 ? known : [...new Set(positionals)],
    json: values.json === true,
    rounds: values.rounds === undefined ? (quick ? 2 : usualRounds[mode]) : rounds(values.rounds),
    inTime: mode === 'run' && values.rounds === undefined,
    quick,
    help: false,
  };
}

/** Guards say themselves what they need. */
function refuseBeside(mode: string, others: readonly (string | false)[]): void {
  const other = others.find((word) => word !== false);
  if (other !== undefined) throw new RangeError(`Expected --${mode} without ${other}`);
}

const optionNames = Object.keys(words).map((name) => `--${name}`);

function rounds(text: string | boolean): number {
  const value = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 1000) return value;
  throw new RangeError(
    `Expected --rounds to be an integer from 1 to 1000, got ${text === true ? 'nothing' : JSON.stringify(text)}`,
  );
}

function unknown(what: string, word: string, known: readonly string[]): RangeError {
  const close = nearest(word, known);
  const guess = close === undefined ? '' : `; did you mean ${close}?`;
  return new RangeError(`Unknown ${what} ${JSON.stringify(word)}; known: ${known.join(', ')}${guess}`);
}
