import { shellWord } from '../src/policy/text/face.ts';
import { type Document, tokenOf } from './document.ts';
import type { Program } from './entry.ts';
import { splitShell } from './hookText.ts';
import { type Launcher, readOwnCommand } from './launcher.ts';
import type { TextEdit } from './tree.ts';

/** Puts our words in front of an agent that is configured as one line, which its client splits into words as a shell does. */
export function wrapLine({ command }: Program, launcher: Launcher, options: readonly string[]): TextEdit {
  const [start] = command.range;
  return { range: [start + 1, start + 1], text: inToken(startOf(launcher, options)) };
}

/** A line that was wrapped: what it begins with, and what it was. */
export interface WrappedLine {
  readonly start: string;
  readonly options: readonly string[];
  readonly original: string;
}

/** Reads a line as {@link wrapLine} writes it, to the letter; undefined when it is anything else. */
export function readWrappedLine(text: string, scripts: ReadonlySet<string>): WrappedLine | undefined {
  const words = splitShell(text);
  const own = words === undefined ? undefined : readOwnCommand(words, scripts);
  if (words === undefined || own?.wraps?.verb !== 'acp') return undefined;
  const [command = '', ...args] = words.slice(0, own.launcherWords);
  const { options } = own.wraps;
  const start = startOf({ command, args }, options);
  return text.startsWith(start) ? { start, options, original: text.slice(start.length) } : undefined;
}

/** Takes our words away again, or puts those of another start in their place. */
export function unwrapLine(
  { text }: Pick<Document, 'text'>,
  { command }: Program,
  { start, options, original }: WrappedLine,
  now?: Launcher,
): TextEdit {
  const [from] = command.range;
  const written = inToken(start);
  const next = now === undefined ? '' : startOf(now, options);
  return text.startsWith(written, from + 1)
    ? { range: [from + 1, from + 1 + written.length], text: inToken(next) }
    : { range: command.range, text: tokenOf(next + original) };
}

function startOf({ command, args }: Launcher, options: readonly string[]): string {
  return `${[command, ...args, 'acp', ...options, '--'].map(shellWord).join(' ')} `;
}

/** A text as it stands between the quotes of a token. */
const inToken = (text: string): string => tokenOf(text).slice(1, -1);
