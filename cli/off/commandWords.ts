import { loadCommand } from '../commands.ts';
import { parseWords, splitCommand } from '../parse.ts';
import { agentWords } from '../acp/agentWords.ts';

/** A command line to hand over to: its words, none where a hook has no command, and the file of its input where that is no inherited one. */
interface CommandWords {
  readonly words: readonly string[];
  readonly input?: string | undefined;
}

/**
 * Finds the command line that a wrapper is given.
 * @param own - the words after the name of the wrapper.
 * @returns undefined where there is none: the wrapper goes on, and says what is wrong or serves what has no command.
 */
export async function commandWords(verb: string, own: readonly string[]): Promise<CommandWords | undefined> {
  const end = own.indexOf('--');
  const before = end < 0 ? own : own.slice(0, end);
  // Asks for no command to be run.
  if (before.some((word) => word === '--help' || word === '-h' || word === '--check')) return undefined;
  if (verb === 'hook') return end < 0 ? ofGuard(before) : { words: own.slice(end + 1) };
  try {
    const form = await loadCommand(verb);
    const { own: options, rest } = splitCommand(form, own);
    if (rest.length === 0) return undefined;
    const parsed = parseWords(form.options, options, '');
    if (parsed.help) return undefined;
    const { 'prompt-file': file, listen } = parsed.args as Readonly<Record<string, unknown>>;
    // It is a server of HTTP, which its command is not.
    if (listen !== undefined) return undefined;
    const input = typeof file === 'string' && file !== '-' ? file : undefined;
    return { words: verb === 'acp' ? agentWords(rest) : rest, input };
  } catch {
    // Words of ours that are wrong, or code of ours that is: neither keeps the command behind `--` from its work.
    if (end < 0 || before.some((word) => /^--listen(?:=|$)/.test(word))) return undefined;
    const words = own.slice(end + 1);
    return words.length === 0
      ? undefined
      : { words: verb === 'acp' ? agentWords(words) : words, input: promptIn(before) };
  }
}

/** The file of `--prompt-file`, where its other words cannot be read. */
function promptIn(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => /^--prompt-file(?:=|$)/.test(word));
  const file = at < 0 ? undefined : words[at]?.split('=').slice(1).join('=') || words[at + 1];
  return file === '-' ? undefined : file;
}

const ofGuard = (words: readonly string[]): CommandWords | undefined =>
  words.some((word) => word === '--guard' || word.startsWith('--guard=')) ? { words: [] } : undefined;
