import type { KnownAgent } from '../../src/protocol/face.ts';
import type { PresetName } from '../../src/policy/face.ts';
import { type Args, type OptionSpecs, count, duration, flag, text, defineForm } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';
import { spendOption, spinningOption } from '../spinning.ts';
import { exitCodeLines, exitCodes, runExitCodes } from './exitCode.ts';

/** All of them, without what they are: help loads none. */
const presetNames: Readonly<Record<PresetName, true>> = {
  mcp: true,
  sdk: true,
  subprocess: true,
  toolCall: true,
  workflow: true,
  claudeCli: true,
  codex: true,
  acp: true,
  hook: true,
};

/** All of them, without what they are: help loads none. */
const agents = Object.keys({
  claude: true,
  codex: true,
  goose: true,
  gemini: true,
  opencode: true,
  copilot: true,
} satisfies Readonly<Record<KnownAgent, true>>);

/** The options of `unwedge run`. */
export const runOptions = {
  timeout: duration('limit on the whole, retries included; else that of the policy'),
  'attempt-timeout': duration('limit on each attempt; else that of the policy, for one attempt none'),
  'no-output-timeout': duration('limit on silence; else that of the policy'),
  attempts: count(1, 100, 1, 'attempts in all'),
  retry: text(
    'WHEN',
    'whether an agent that may have acted is begun anew: always, or safe (only where its output tells that it has not); else safe',
    ['always', 'safe'],
  ),
  policy: text(
    'PRESET',
    `limits and waits between attempts: ${Object.keys(presetNames).join(', ')}, or a preset of the configuration; else by the agent, or subprocess`,
    Object.keys(presetNames),
  ),
  config: configOption,
  name: text('NAME', 'what its failures are counted under; else the name of the command or script'),
  'prompt-file': text('FILE', 'what each attempt gets on stdin; - is the stdin of unwedge'),
  agent: text('AGENT', `whose output it is: ${agents.join(', ')}, none, or auto to tell by the command`, [
    ...agents,
    'none',
    'auto',
  ]),
  spinning: spinningOption,
  spend: spendOption,
  stream: flag('show the output of each attempt as it comes; not with --json'),
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge run`. */
export type RunArgs = Args<typeof runOptions>;

/** `unwedge run`; only its options are here, so that asking for help loads no runtime. */
export const form = defineForm({
  usage: 'run [OPTION...] -- COMMAND [ARG...]',
  details: [
    "Output passes as it is, and so does the command's exit code. These are others:",
    ...exitCodeLines(runExitCodes),
    'An overload of the API gives 75 where an agent tells of it; another command keeps its own code.',
    'Where an agent may have acted 75 means no such thing: another run begins anew. The last line says so, and `effects` of --json.',
    'Runs that crash, hang, time out, or say on stderr that a service was not available (HTTP 503, connection refused, overloaded)',
    'count as failures: after 5 in a row, of this and later runs of the same name, it is not run for 1m. Another exit code is an answer.',
    'Attempts beyond those five are not made, however many are given by --attempts.',
    'With more than one attempt only the output of the last one is shown, and the command gets no stdin but the --prompt-file.',
    'On a terminal the command has it to itself: Ctrl-C is its own, and without --timeout or --no-output-timeout there is no limit.',
    'What it leaves running in the background is ended with it.',
  ].join('\n'),
  takesCommand: true,
  errorCode: exitCodes.ownError,
  options: runOptions,
});
