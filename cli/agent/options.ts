import type { Args, OptionSpecs } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';

const backends = ['claude', 'codex'] as const;

/** The options of `unwedge agent`. */
export const agentOptions = {
  backend: { kind: 'text', value: 'BACKEND', help: 'who answers: claude or codex', choices: backends },
  name: {
    kind: 'text',
    value: 'NAME',
    help: 'what it is recorded, configured and its failures are counted under; else BACKEND',
  },
  fallback: {
    kind: 'text',
    value: 'BACKEND',
    help: 'who goes on when that one cannot: claude or codex',
    choices: backends,
  },
  resume: { kind: 'text', value: 'ID', help: 'go on with this conversation' },
  model: { kind: 'text', value: 'NAME', help: 'else what the backend is configured for' },
  cwd: { kind: 'text', value: 'DIRECTORY', help: 'where the agent works; else here' },
  approve: {
    kind: 'text',
    value: 'WHAT',
    help: 'what the agent asks leave for: all is allowed, or none (as without this)',
    choices: ['all', 'none'],
  },
  config: configOption,
  command: {
    kind: 'text',
    value: 'PROGRAM',
    help: 'the program of the backend; else codex, and for claude the Agent SDK, or claude where that is not installed',
  },
  timeout: { kind: 'duration', help: 'limit on the whole, retries and fallback included; else 30m' },
  'no-output-timeout': { kind: 'duration', help: 'limit on silence; else 2m for claude, 5m for codex' },
  stream: { kind: 'flag', help: 'show the answer as it comes also where stdout is no terminal' },
  'prompt-file': { kind: 'text', value: 'FILE', help: 'the prompt, in place of PROMPT; - is stdin' },
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge agent`. */
export type AgentArgs = Args<typeof agentOptions>;
