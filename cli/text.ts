import { formatDuration, wrapWords } from '../src/policy/text/face.ts';
import type { Io } from './io.ts';
import { typed } from './ownCommand.ts';

/** Most width of help: longer lines are hard to read, however wide the terminal is. */
const widestHelp = 100;
/** Width of help that goes to no terminal. */
const usualHelp = 80;
/** Narrower than this, lines are broken by the terminal. */
const leastWidth = 20;

/** Returns the width of help on an output of so many columns, `Infinity` for none. */
export function helpWidth(columns: number): number {
  return columns === Number.POSITIVE_INFINITY ? usualHelp : Math.max(leastWidth, Math.min(columns, widestHelp));
}

/** Lines of a report, each wrapped behind its own indent; what goes on is two columns further in. */
export function wrapLines(lines: readonly string[], width: number): string {
  const wrapped = lines.flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? '';
    return wrapWords(line, width - indent.length, '  ').map((each) => (each === '' ? each : indent + each));
  });
  return `${wrapped.join('\n')}\n`;
}

/** Prose of whole sentences: a line that ends none goes on in the next one. Lines that begin with a space are examples, and stay as they are. */
export function wrapProse(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let sentence = '';
  const flush = (): void => {
    if (sentence !== '') lines.push(...wrapWords(sentence, width));
    sentence = '';
  };
  for (const line of text.split('\n')) {
    const isProse = line !== '' && !line.startsWith(' ');
    if (!isProse) {
      flush();
      lines.push(line);
      continue;
    }
    sentence = sentence === '' ? line : `${sentence} ${line}`;
    if (/[.:]$/.test(line)) flush();
  }
  flush();
  return lines;
}

/** A number with its word: `1 call`, `3 calls`. @param plural - of a word that takes no s. */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${count} ${count === 1 ? word : plural}`;
}

/** Wall time as `2026-11-21 10:29:44.123`, in the time zone of the reader. */
export function localTime(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const digits = (value: number, count = 2) => String(value).padStart(count, '0');
  const day = `${digits(date.getFullYear(), 4)}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
  const time = `${digits(date.getHours())}:${digits(date.getMinutes())}:${digits(date.getSeconds())}`;
  return `${day} ${time}.${digits(date.getMilliseconds(), 3)}`;
}

/** Formats the time since then, in words that stay short: `12s ago`. */
export function ago(at: number, now: number): string {
  return now - at < 1000 ? 'now' : `${formatDuration(Math.floor((now - at) / 1000) * 1000)} ago`;
}

type Paint = (text: string) => string;

/** Colours for people; every one leaves the text as it is when colours are off. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  /** Words by which a shell here starts this program. @defaultValue `unwedge` */
  readonly own?: string | undefined;
}

/** Colours on a terminal that has them, unless `NO_COLOR` is set. */
export function createStyle({ isTTY, env, own }: Pick<Io, 'isTTY' | 'env' | 'own'>): Style {
  const on = isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const paint =
    (start: number, end: number): Paint =>
    (text) =>
      on ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return {
    ...{ bold: paint(1, 22), dim: paint(2, 22), red: paint(31, 39), green: paint(32, 39), yellow: paint(33, 39) },
    own,
  };
}

/** Tells whether the next step is pasted into a shell as it stands; other words are read. */
export function isCommand(next: string): boolean {
  return /^(?:unwedge|npx|kill|sqlite3) /.test(next);
}

/** Writes the next step, below its matter: words are wrapped, a command is never broken, so that it can be copied. */
export function nextLines(given: string, width: number, { dim, own }: Style): readonly string[] {
  const next = typed(given, { own });
  if (isCommand(next)) return [`  ${dim('next:')} ${next}`];
  const [first = '', ...others] = wrapWords(`next: ${next}`, width - 2, '  ');
  return [`  ${first.replace('next:', dim('next:'))}`, ...others.map((line) => `  ${line}`)];
}
