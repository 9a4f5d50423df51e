import { defineCommand } from '../command.ts';
import { agentExitCodes, exitCodeLines } from '../run/exitCode.ts';
import { agentOptions } from './options.ts';

/** `unwedge agent`; only its options are here, so that asking for help loads no runtime. */
export const agent = defineCommand({
  name: 'agent',
  summary: 'ask Claude or Codex once, under supervision, and watch it work',
  usage: 'agent --backend claude|codex [OPTION...] PROMPT',
  details: [
    'The answer goes to stdout: on a terminal as it comes, else at the end, so that nothing of a failed attempt gets into it. Tools,',
    'retries and what was declined are told on stderr, the id to resume by at the end.',
    'With --json each event is a line, and the result is the last. PROMPT may be - for stdin.',
    'What the agent asks leave for is declined, unless --approve all. Ctrl-C interrupts the turn; a second ends everything at once.',
    'Exit codes:',
    ...exitCodeLines(agentExitCodes),
    'Where the fallback fails too both are told, and the code is that of BACKEND, or 124 when the limit on the whole passed meanwhile.',
    'claude is run through the package @anthropic-ai/claude-agent-sdk where that is installed beside unwedge, else by its own program.',
  ].join('\n'),
  operands: ['[PROMPT]'],
  options: agentOptions,
  run: async (args, io) => (await import('./agentCommand.ts')).agentCommand(args, io),
});
