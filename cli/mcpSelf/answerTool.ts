import type { Io } from '../io.ts';
import { runCommandLine } from '../run.ts';
import { type SelfTool, wordsOf } from './tools.ts';

/** A model pays for each character: what is longer is cut at a line, and says so. */
const mostCharacters = 24_000;
/** Width of no terminal: a model has no other way to see what one would cut. */
const columns = Number.POSITIVE_INFINITY;

/** Answers a call of a tool with the print of its command, both streams in the order in which they came; an error where it failed. */
export async function answerTool(
  tool: SelfTool,
  input: Readonly<Record<string, unknown>>,
  db: string | undefined,
  { env, signal, now }: Pick<Io, 'env' | 'signal' | 'now'>,
): Promise<object> {
  let printed = '';
  const output = {
    write: (text: string) => {
      printed += text;
    },
  };
  const words = db === undefined ? [] : ['--db', db];
  const code = await runCommandLine([...words, ...wordsOf(tool, input)], {
    stdout: output,
    stderr: output,
    env: { ...env, NO_COLOR: '1' },
    isTTY: false,
    columns,
    signal,
    now,
  });
  return toolResult(bounded(printed), code !== 0);
}

/** The result of a call of a tool, as MCP has it. */
export function toolResult(text: string, isError: boolean): object {
  return { content: [{ type: 'text', text }], isError };
}

function bounded(text: string): string {
  if (text.length <= mostCharacters) return text;
  const end = text.lastIndexOf('\n', mostCharacters);
  const kept = text.slice(0, end < 0 ? mostCharacters : end);
  const left = text.slice(kept.length + 1).split('\n').length;
  return `${kept}\n(${left} more ${left === 1 ? 'line is' : 'lines are'} left out: ask for less, as with limit or since.)\n`;
}
