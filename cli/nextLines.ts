import { wrapWords } from '../src/policy/textWidth.ts';
import type { Style } from './style.ts';

/** Tells whether the next step is pasted into a shell as it stands; other words are read. */
export function isCommand(next: string): boolean {
  return /^(?:unwedge|npx|kill|sqlite3) /.test(next);
}

/** Writes the next step, below its matter: words are wrapped, a command is never broken, so that it can be copied. */
export function nextLines(next: string, width: number, { dim }: Style): readonly string[] {
  if (isCommand(next)) return [`  ${dim('next:')} ${next}`];
  const [first = '', ...others] = wrapWords(`next: ${next}`, width - 2, '  ');
  return [`  ${first.replace('next:', dim('next:'))}`, ...others.map((line) => `  ${line}`)];
}
