import { type Document, tokenOf } from './document.ts';
import type { Program } from './entry.ts';
import type { Launcher } from './launcher.ts';
import type { Field, Range, Text, TextEdit } from './tree.ts';

/** White space between two fields, at most; in characters. */
const mostSpace = 1000;

/** Words before the original ones. */
interface Prefix {
  readonly launcher: Launcher;
  readonly options: readonly string[];
}

/** Puts our words in front of a command and its list of arguments: the original command becomes, as it is written, one of them. */
export function wrapArgv(document: Document, program: Program, { launcher, options }: Prefix): readonly TextEdit[] {
  const { command, args, verb } = program;
  const raw = sourceOf(document, command.range);
  const added = [...launcher.args, verb, ...options, '--'];
  if (program.isList === true) {
    const [start] = command.range;
    return [{ range: [start, start], text: `${[launcher.command, ...added].map(tokenOf).join(', ')}, ` }];
  }
  const isBlock = args !== undefined && isBlockList(document, args.range);
  const tokens = [...added.map(tokenOf), isBlock || !reachesFurther.test(raw) ? raw : tokenOf(command.value)];
  const replaced = { range: command.range, text: tokenOf(launcher.command) };
  if (args === undefined) return [replaced, addedArgs(document, program, tokens.join(', '))];
  if (isBlock) return [replaced, inFrontOf(document, args, tokens)];
  const [start] = args.range;
  const text = args.items.length === 0 ? tokens.join(', ') : `${tokens.join(', ')}, `;
  return [replaced, { range: [start + 1, start + 1], text }];
}

/** Words without quotes that are more than one in the brackets of a list of YAML. */
const reachesFurther = /^[^"'].*[,[\]{}]/;

/** A list of YAML without brackets has an item behind each dash. */
const isBlockList = ({ text }: Document, [start]: Range): boolean => text[start] === '-';

/** Puts tokens before the items of a list that has some; into one without brackets each in a line of its own. */
export function inFrontOf(document: Document, { range, items }: Arguments, tokens: readonly string[]): TextEdit {
  const [start] = range;
  if (!isBlockList(document, range)) {
    const at = items[0]?.range[0] ?? start + 1;
    return { range: [at, at], text: `${tokens.join(', ')}, ` };
  }
  const indent = /(?<![ \t])[ \t]*$/.exec(lineBefore(document.text, start))?.[0] ?? '';
  return { range: [start, start], text: tokens.map((token) => `- ${token}${document.eol}${indent}`).join('') };
}

type Arguments = NonNullable<Program['args']>;

/** Adds the list of arguments that was not there: where it goes, and with what text around it. */
function addedArgs(document: Document, program: Program, words: string): TextEdit {
  const field = commandField(program);
  const { text, insertedAt } = writtenArgs(document, program, field, words);
  return { range: [insertedAt, insertedAt], text };
}

/** The list as it is added: behind the command, or in a line before it, since what follows the command in its line may be a comment. */
function writtenArgs(document: Document, { command }: Program, field: Field, words: string) {
  const [start] = field.range;
  if (field.isInline) {
    const dotted = document.text.slice(start, field.key[0]);
    const key = { toml: `${dotted}args =`, yaml: 'args:' }[document.format as string] ?? '"args":';
    return { text: `, ${key} [${words}]`, insertedAt: command.range[1] };
  }
  const indent = /(?<![ \t])[ \t]*$/.exec(lineBefore(document.text, start))?.[0] ?? '';
  const dotted = document.text.slice(start, field.key[0]);
  const key = document.format === 'yaml' ? 'args:' : `${dotted}args =`;
  return { text: `${key} [${words}]${document.eol}${indent}`, insertedAt: start };
}

function commandField({ table, commandKey }: Program): Field {
  const field = table.fields.get(commandKey);
  if (field === undefined) throw new TypeError(`No field ${commandKey}`);
  return field;
}

/**
 * Takes our words away again. What is between them and the brackets is as `wrapArgv` left it, or as its program wrote the file anew.
 * @param ours - how many items of the list are ours, the original command the last of them.
 * @param raw - the original command as it was written; undefined: as it stands now.
 * @param hadArgs - false: there was no list before.
 */
export function unwrapArgv(
  document: Document,
  program: Program,
  ours: number,
  hadArgs: boolean,
  raw?: string,
): readonly TextEdit[] {
  const { command, args } = program;
  if (args === undefined) return [];
  if (program.isList === true)
    return [{ range: [command.range[0], args.items[ours - 1]?.range[0] ?? command.range[0]], text: '' }];
  const items = args.items.slice(0, ours).map(({ range }) => sourceOf(document, range));
  const restored = { range: command.range, text: raw ?? items.at(-1) ?? '' };
  const isEmptied = args.items.length === ours;
  if (isEmptied && !hadArgs) return [restored, { range: argsRange(document, program, items.join(', ')), text: '' }];
  if (isEmptied && isBlockList(document, args.range)) {
    const end = args.items.at(-1)?.range[1] ?? args.range[1];
    return [restored, { range: [program.table.fields.get('args')?.key[1] ?? end, end], text: ': []' }];
  }
  return [restored, { range: wordsRange(document, args.range, args.items, ours, items), text: '' }];
}

function wordsRange(
  { text }: Document,
  [start, end]: Range,
  all: readonly Text[],
  ours: number,
  items: readonly string[],
): Range {
  const isEmptied = all.length === ours;
  // The dash of the first item that stays.
  if (text[start] === '-') return [start, text.lastIndexOf('-', (all[ours]?.range[0] ?? end) - 1)];
  const written = `${items.join(', ')}${isEmptied ? '' : ', '}`;
  if (text.startsWith(written, start + 1)) return [start + 1, start + 1 + written.length];
  const first = all[0]?.range[0] ?? start + 1;
  const last = all[ours - 1]?.range[1] ?? first;
  const next = all[ours]?.range[0] ?? end - 1;
  const comma = /^\s*,\s*/.exec(text.slice(last, next));
  if (isEmptied) return [first, comma === null ? last : last + comma[0].length];
  return [first, comma === null ? next : last + comma[0].length];
}

/** Finds the whole field, with what parts it from its neighbours. */
function argsRange(document: Document, program: Program, words: string): Range {
  const { text } = document;
  const command = commandField(program);
  const field = program.table.fields.get('args') ?? command;
  const [start, end] = field.range;
  const written = writtenArgs(document, program, command, words).text;
  const writtenAt = command.isInline ? program.command.range[1] : command.range[0] - written.length;
  if (text.startsWith(written, writtenAt)) return [writtenAt, writtenAt + written.length];
  if (!field.isInline) {
    const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end));
    return rest === null ? [start, end] : [text.lastIndexOf('\n', start) + 1, end + rest[0].length];
  }
  // With the comma before it, or, of the first field, the one behind it.
  const before = /,\s*$/.exec(text.slice(Math.max(0, start - mostSpace), start));
  if (before !== null) return [start - before[0].length, end];
  const behind = /^\s*,\s*/.exec(text.slice(end));
  return [start, end + (behind?.[0].length ?? 0)];
}

function lineBefore(text: string, at: number): string {
  return at === 0 ? '' : text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
}

function sourceOf({ text }: Document, [start, end]: Range): string {
  return text.slice(start, end);
}
