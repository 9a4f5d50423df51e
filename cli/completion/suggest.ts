import { type Choices, type Command, commonOptions, type OptionSpec, type OptionSpecs } from '../command.ts';
import { commandIndex } from '../commandIndex.ts';
import { commands, loadCommand } from '../commands.ts';
import { readDatabase } from '../database.ts';
import { createShownNames } from '../../src/redaction/face.ts';
import { optionsOf } from '../help.ts';
import type { Io } from '../io.ts';
import { firstOperand } from '../parse.ts';
import { bareOptions } from '../run.ts';

/** Suggestions for a word. */
interface Suggestions {
  readonly words: readonly Suggestion[];
  /** Names that the shell itself completes as well. */
  readonly also?: 'files' | 'directories' | 'commands' | undefined;
}

interface Suggestion {
  readonly word: string;
  /** Description of it, in half a line. */
  readonly about: string;
}

const none: Suggestions = { words: [] };

/**
 * Lists suggestions for the last word, as lines for the scripts of shells: the word, a tab, what it is; then `:files` and the like. A database that cannot be
 * read has no names.
 * @param words - those after `unwedge`, up to the cursor; the last one may be empty.
 */
export async function suggestionLines(words: readonly string[], db: string | undefined, io: Io): Promise<string> {
  const last = words.at(-1) ?? '';
  const inline = /^--[\w-]+=/.exec(last)?.[0] ?? '';
  const { words: found, also } = await suggest(words, db, io);
  const fitting = found
    .map(({ word, about }) => ({ word: inline + word, about }))
    .filter(({ word }) => word.startsWith(last) && isPlain(word));
  return [...fitting.map(({ word, about }) => `${word}\t${about}\n`), also === undefined ? '' : `:${also}\n`].join('');
}

/** Shells would break others, and a leading colon is a sign of ours. */
const isPlain = (word: string): boolean => /^[^\s\p{Control}:'"\\][^\s\p{Control}'"\\]*$/u.test(word);

async function suggest(words: readonly string[], db: string | undefined, io: Io): Promise<Suggestions> {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const at = commandIndex(before);
  const name = before[at];
  const database = db ?? databaseIn(before);
  if (name === undefined) return before.at(-1) === '--db' ? { words: [], also: 'files' } : firstWord(last);
  if (name === 'help') return { words: commandNames() };
  if (!Object.hasOwn(commands, name)) return none;
  return inCommand(await loadCommand(name), before.toSpliced(at, 1), last, (choices) => namesOf(choices, database, io));
}

/** Finds the names of these that the database has. */
type Names = (choices: Choices) => Promise<readonly string[]>;

async function inCommand(
  command: Command,
  before: readonly string[],
  last: string,
  names: Names,
): Promise<Suggestions> {
  const options = optionsOf(command);
  const begin = foreignCommandAt(command, before);
  if (begin !== undefined) return { words: [], also: begin === before.length ? 'commands' : 'files' };
  const [, inline] = /^--([\w-]+)=/.exec(last) ?? [];
  const [, previous] = /^--([\w-]+)$/.exec(before.at(-1) ?? '') ?? [];
  const wanted = inline ?? previous;
  const spec = wanted !== undefined && Object.hasOwn(options, wanted) ? options[wanted] : undefined;
  if (spec !== undefined && spec.kind !== 'flag') return valuesOf(spec, names);
  if (last.startsWith('-')) return { words: optionWords(options) };
  const { operands = [] } = command;
  const most = operands.at(-1)?.endsWith('...') === true ? operands.length - 1 : Number.POSITIVE_INFINITY;
  const count = Math.min(countOperands(options, before), most);
  const operand = operands[count]?.replace(/^\[(.*)\]$/, '$1');
  if (operand === undefined) return { words: optionWords(options) };
  if (count === 0 && command.choices !== undefined) return { words: plain(await names(command.choices)) };
  return { words: [], also: operand === 'FILE' ? 'files' : undefined };
}

/** Finds the first word of somebody else's command line; undefined when the cursor stands before it. */
function foreignCommandAt({ takesCommand, options }: Command, before: readonly string[]): number | undefined {
  if (takesCommand === undefined || takesCommand === false) return undefined;
  const end = before.indexOf('--');
  if (end >= 0) return end + 1;
  const begin = takesCommand === 'bare' ? firstOperand(options, before) : -1;
  return begin < 0 ? undefined : begin;
}

async function valuesOf(spec: Exclude<OptionSpec, { kind: 'flag' }>, names: Names): Promise<Suggestions> {
  if (spec.kind !== 'text' && spec.kind !== 'list') return none;
  if (spec.choices !== undefined) return { words: plain(await names(spec.choices)) };
  const also = { FILE: 'files', DIRECTORY: 'directories', PROGRAM: 'commands' } as const;
  return { words: [], also: Object.hasOwn(also, spec.value) ? also[spec.value as keyof typeof also] : undefined };
}

function countOperands(options: OptionSpecs, before: readonly string[]): number {
  let count = 0;
  for (let left = before; ; count++) {
    const at = firstOperand(options, left);
    if (at < 0) return count;
    left = left.toSpliced(at, 1);
  }
}

function firstWord(last: string): Suggestions {
  if (!last.startsWith('-')) return { words: commandNames() };
  return { words: optionWords({ ...bareOptions, ...commonOptions }) };
}

const commandNames = (): readonly Suggestion[] => Object.entries(commands).map(([word, about]) => ({ word, about }));

const optionWords = (options: OptionSpecs): readonly Suggestion[] =>
  Object.entries(options).map(([name, { help }]) => ({ word: `--${name}`, about: help }));

const plain = (words: readonly string[]): readonly Suggestion[] => words.map((word) => ({ word, about: '' }));

function databaseIn(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf('--db');
  return at >= 0 ? words[at + 1] : words.findLast((word) => word.startsWith('--db='))?.slice('--db='.length);
}

const dayMs = 24 * 60 * 60_000;

async function namesOf(choices: Choices, db: string | undefined, io: Io): Promise<readonly string[]> {
  if (typeof choices !== 'string') return choices;
  try {
    return await readDatabase(db || undefined, io, async (reader) => {
      const now = io.now();
      const isOfSessions = choices !== 'integrations';
      const isOfIntegrations = choices !== 'sessions';
      const recorded = isOfIntegrations ? (await reader.status(now)).integrations : [];
      const called = isOfIntegrations ? await reader.statistics(now - dayMs, 'whole') : [];
      const integrations = [...recorded, ...called].map(({ integration }) => integration);
      const sessions = isOfSessions ? await reader.sessionIds() : [];
      return [...new Set([...integrations, ...sessions].map(createShownNames()))].sort();
    });
  } catch {
    return [];
  }
}
