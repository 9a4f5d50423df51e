import { quoteShell, shellWord } from '../src/policy/text/face.ts';
import { type Document, tokenOf } from './document.ts';
import type { Program } from './entry.ts';
import { type Launcher, readOwnCommand } from './launcher.ts';
import type { TextEdit } from './tree.ts';

/** The shell that a program gives its hooks to, as words for a shell. */
export type HookShell = '/bin/sh -c' | 'bash -c' | '"$SHELL" -lc';

/**
 * A hook for a shell, behind unwedge: the same shell gets the same text. Where the token can be kept as it is written but for its quotes, the
 * way back is exact without any record.
 */
export function wrapShellHook(
  { text, format }: Pick<Document, 'text' | 'format'>,
  { command }: Program,
  launcher: Launcher,
  options: readonly string[],
  shell: HookShell,
): TextEdit {
  const start = startOf(launcher, options, shell);
  const raw = text.slice(...command.range);
  const isKept = format === 'json' && !/\\u00(?:27|5c)/i.test(raw);
  const token = isKept
    ? `${tokenOf(start).slice(0, -1)}'${raw.slice(1, -1).replaceAll("'", tokenQuote)}'"`
    : tokenOf(start + quoteShell(command.value));
  return { range: command.range, text: token };
}

/** A single quote within single quotes, as it stands in a token. */
const tokenQuote = String.raw`'\\''`;

function startOf({ command, args }: Launcher, options: readonly string[], shell: HookShell): string {
  return `${[command, ...args, 'hook', ...options, '--'].map(shellWord).join(' ')} ${shell} `;
}

/** A hook that was wrapped: what for, and what it was. */
interface WrappedHook {
  readonly options: readonly string[];
  readonly launcher: Launcher;
  readonly shell: HookShell;
  readonly original: string;
}

const shells: readonly HookShell[] = ['/bin/sh -c', 'bash -c', '"$SHELL" -lc'];

/** Reads a hook's command as {@link wrapShellHook} writes it, to the letter; undefined when it is anything else. */
export function readWrappedHook(text: string, scripts: ReadonlySet<string>): WrappedHook | undefined {
  const words = splitShell(text);
  const own = words === undefined ? undefined : readOwnCommand(words, scripts);
  if (words === undefined || own?.wraps?.verb !== 'hook') return undefined;
  const { options, rest } = own.wraps;
  const [program, flag, original] = rest;
  const shell = shells.find((known) => known === `${program} ${flag}`);
  if (shell === undefined || original === undefined || rest.length > 3) return undefined;
  const [command = '', ...args] = words.slice(0, own.launcherWords);
  const launcher = { command, args };
  if (startOf(launcher, options, shell) + quoteShell(original) !== text) return undefined;
  return { options, launcher, shell, original };
}

/** The token of the original command. @param raw - as it was written, when that is on record. */
export function unwrapShellHook(
  { text, format }: Pick<Document, 'text' | 'format'>,
  { command }: Program,
  { launcher, options, shell, original }: WrappedHook,
  raw?: string,
): TextEdit {
  const written = text.slice(...command.range);
  const start = `${tokenOf(startOf(launcher, options, shell)).slice(0, -1)}'`;
  const isKept = format === 'json' && written.startsWith(start) && written.endsWith(`'"`);
  const kept = `"${written.slice(start.length, -2).replaceAll(tokenQuote, "'")}"`;
  return { range: command.range, text: raw ?? (isKept ? kept : tokenOf(original)) };
}

/** The same hook, started by another path of this program. */
export function restartShellHook(
  { text }: Pick<Document, 'text'>,
  { command }: Program,
  { launcher, options, shell, original }: WrappedHook,
  now: Launcher,
): TextEdit {
  const raw = text.slice(...command.range);
  const before = tokenOf(startOf(launcher, options, shell)).slice(0, -1);
  const start = startOf(now, options, shell);
  const isKept = raw.startsWith(before);
  const token = isKept ? tokenOf(start).slice(0, -1) + raw.slice(before.length) : tokenOf(start + quoteShell(original));
  return { range: command.range, text: token };
}

/** Tells whether every shell starts the same words for it: a program and its arguments, with nothing to expand. */
export function isPlainCommand(text: string): boolean {
  return /^[\w@%+:,./-][\w@%+=:,./ -]*$/.test(text);
}

/**
 * The words of a simple command as a POSIX shell has them; undefined for anything more, such as expansions, pipes and lists. `"$SHELL"` alone
 * stays as it is written.
 */
export function splitShell(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    let word = '';
    while (rest !== '' && !/^\s/.test(rest)) {
      const part = /^(?:'([^']*)'|"([^"$`\\]*)"|("\$SHELL")|\\([^\n])|([\w@%+=:,./-]+))/.exec(rest);
      if (part === null) return undefined;
      const [whole, single, double, variable, escaped, bare] = part;
      word += single ?? double ?? variable ?? escaped ?? bare ?? '';
      rest = rest.slice(whole.length);
    }
    words.push(word);
    rest = rest.trimStart();
  }
  return words;
}
