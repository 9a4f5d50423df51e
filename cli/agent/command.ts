import { type Args, type OptionSpecs, duration, flag, text, defineForm } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';
import { spendOption, spinningOption } from '../spinning.ts';
import { agentExitCodes, exitCodeLines } from '../run/exitCode.ts';

const backends = ['claude', 'codex', 'goose', 'gemini', 'opencode', 'copilot'] as const;

/** The options of `unwedge agent`. */
export const agentOptions = {
  backend: text(
    'BACKEND',
    'who answers: claude, codex, or by the Agent Client Protocol goose, gemini, opencode, copilot',
    backends,
  ),
  name: text('NAME', 'what it is recorded, configured and its failures are counted under; else BACKEND'),
  fallback: text('BACKEND', 'who goes on when that one cannot: another of them', backends),
  resume: text('ID', 'go on with this conversation'),
  model: text('NAME', 'else what the backend is configured for'),
  cwd: text('DIRECTORY', 'where the agent works; else here'),
  approve: text('WHAT', 'what the agent asks leave for: all is allowed, or none (as without this)', ['all', 'none']),
  config: configOption,
  command: text(
    'PROGRAM',
    'the program of the backend; else its name, and for claude the Agent SDK where that is installed',
  ),
  timeout: duration('limit on the whole, retries and fallback included; else 30m'),
  'no-output-timeout': duration('limit on silence; else 2m for claude, 5m for codex, 15m for others'),
  spinning: spinningOption,
  spend: spendOption,
  stream: flag('show the answer as it comes also where stdout is no terminal'),
  'prompt-file': text('FILE', 'the prompt, in place of PROMPT; - is stdin'),
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge agent`. */
export type AgentArgs = Args<typeof agentOptions>;

/** `unwedge agent`; only its options are here, so that asking for help loads no runtime. */
export const form = defineForm({
  usage: 'agent --backend NAME [OPTION...] PROMPT',
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
});
