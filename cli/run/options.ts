import type { PresetName } from '../../src/policy/presets.ts';
import type { Args, OptionSpecs } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';

/** All of them, without what they are: help loads none. */
const presetNames: Readonly<Record<PresetName, true>> = {
  mcp: true,
  sdk: true,
  subprocess: true,
  toolCall: true,
  workflow: true,
  claudeCli: true,
  codex: true,
  hook: true,
};

/** The options of `unwedge run`. */
export const runOptions = {
  timeout: { kind: 'duration', help: 'limit on the whole, retries included; else that of the policy' },
  'attempt-timeout': {
    kind: 'duration',
    help: 'limit on each attempt; else that of the policy, for one attempt none',
  },
  'no-output-timeout': { kind: 'duration', help: 'limit on silence; else that of the policy' },
  attempts: { kind: 'count', max: 100, defaultValue: 1, help: 'attempts in all' },
  retry: {
    kind: 'text',
    value: 'WHEN',
    help: 'whether an agent that may have acted is begun anew: always, or safe (only where its output tells that it has not); else safe',
    choices: ['always', 'safe'],
  },
  policy: {
    kind: 'text',
    value: 'PRESET',
    help: `limits and waits between attempts: ${Object.keys(presetNames).join(', ')}, or a preset of the configuration; else by the agent, or subprocess`,
    choices: Object.keys(presetNames),
  },
  config: configOption,
  name: {
    kind: 'text',
    value: 'NAME',
    help: 'what its failures are counted under; else the name of the command or script',
  },
  'prompt-file': { kind: 'text', value: 'FILE', help: 'what each attempt gets on stdin; - is the stdin of unwedge' },
  agent: {
    kind: 'text',
    value: 'AGENT',
    help: 'whose output it is: claude, codex, none, or auto to tell by the command',
    choices: ['claude', 'codex', 'none', 'auto'],
  },
  stream: { kind: 'flag', help: 'show the output of each attempt as it comes; not with --json' },
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge run`. */
export type RunArgs = Args<typeof runOptions>;
