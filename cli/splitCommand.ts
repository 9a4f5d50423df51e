import type { Command } from './command.ts';
import { firstOperand } from './parse.ts';

/** The words of the command itself, and those of the command line that it takes. */
export function splitCommand(
  command: Pick<Command, 'options' | 'takesCommand'>,
  words: readonly string[],
): Record<'own' | 'rest', readonly string[]> {
  const end = takesCommand(command) ? words.indexOf('--') : -1;
  if (end >= 0) return { own: words.slice(0, end), rest: words.slice(end + 1) };
  const begin = command.takesCommand === 'bare' ? firstOperand(command.options, words) : -1;
  return begin < 0 ? { own: words, rest: [] } : { own: words.slice(0, begin), rest: words.slice(begin) };
}

export const takesCommand = ({ takesCommand: takes }: Pick<Command, 'takesCommand'>): boolean =>
  (takes ?? false) !== false;
