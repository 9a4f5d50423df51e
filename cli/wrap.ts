import { wrapWords } from '../src/policy/textWidth.ts';

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
