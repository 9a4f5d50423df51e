import { type AgentCommand, agentCommand, type AgentOption } from '../../protocol/agentCommand.ts';
import { commandKey } from '../../policy/commandKey.ts';
import type { IntegrationPolicy } from '../../policy/policy.ts';
import { type PresetName, presets, resolvePolicy } from '../../policy/presets.ts';
import { unknown, UsageError } from '../errors.ts';
import type { RunArgs } from './options.ts';

/** What `unwedge run` is to do, checked. */
export interface RunPlan {
  readonly command: string;
  readonly args: readonly string[];
  /** What its failures are counted under. */
  readonly name: string;
  readonly agent: AgentOption;
  readonly policy: IntegrationPolicy;
  /** Whence each attempt gets its stdin; `-` is ours. */
  readonly promptFile: string | undefined;
  /** Whether the command gets our stdin as its own. */
  readonly inheritsStdin: boolean;
  /** Whether it uses our terminal: it stays in our process group, and Ctrl-C reaches it from there. */
  readonly onTerminal: boolean;
  /** Whether it writes to our terminal itself. */
  readonly inheritsStdout: boolean;
  /** Whether the output of an attempt waits until it is known to be the last. */
  readonly holdsOutput: boolean;
  readonly json: boolean;
  readonly db: string | undefined;
}

/** Which of our streams are terminals. */
export interface Terminals {
  readonly stdin: boolean;
  readonly stdout: boolean;
}

/**
 * Makes the plan of a run from its command line.
 * @throws {@link UsageError} that names what is wrong.
 */
export function planRun(args: RunArgs, rest: readonly string[], terminals: Terminals): RunPlan {
  const [command, ...words] = rest;
  if (command === undefined) throw new UsageError('No command given; write it after --, as in `unwedge run -- make`');
  if (command === '') throw new UsageError('Expected a command after --, got ""');
  const agent = agentOf(args.agent);
  const inheritsStdin = args.attempts === 1 && args['prompt-file'] === undefined;
  const onTerminal = inheritsStdin && terminals.stdin;
  const holdsOutput = args.attempts > 1 && !args.stream;
  const silenceMatters = args['no-output-timeout'] !== undefined;
  return {
    command,
    args: words,
    name: args.name ?? commandKey(command, words),
    agent,
    policy: policyOf(args, agentCommand(command, words, agent), onTerminal),
    promptFile: args['prompt-file'],
    inheritsStdin,
    onTerminal,
    inheritsStdout: onTerminal && terminals.stdout && !args.json && !silenceMatters,
    holdsOutput,
    json: args.json,
    db: args.db,
  };
}

const agentOptions: readonly AgentOption[] = ['auto', 'none', 'claude', 'codex'];

function agentOf(word: string | undefined): AgentOption {
  const found = word === undefined ? 'auto' : agentOptions.find((option) => option === word);
  if (found === undefined) throw unknown('agent', word ?? '', agentOptions, 'unwedge run --help');
  return found;
}

const presetNames = Object.keys(presets);

/** Retries are only for who asks for them; then they are meant, whatever the command may have done before it failed. */
function policyOf(args: RunArgs, agent: AgentCommand | undefined, onTerminal: boolean): IntegrationPolicy {
  const preset = args.policy ?? presetOf(agent);
  if (!presetNames.includes(preset)) throw unknown('policy', preset, presetNames, 'unwedge run --help');
  const { retry, limits } = presets[preset as PresetName];
  const limit = (option: 'timeout' | 'attempt-timeout' | 'no-output-timeout', otherwise: number): number => {
    const value = args[option];
    if (value === 0) throw new UsageError(`Expected \`--${option}\` to be above 0`);
    return value ?? (onTerminal ? Number.POSITIVE_INFINITY : otherwise);
  };
  const overallMs = limit('timeout', limits.overallMs);
  const printsAtEnd = agent?.agent === 'claude' && agent.format !== 'stream-json';
  return resolvePolicy('run', {
    preset: preset as PresetName,
    retry: { ...retry, maxAttempts: args.attempts, retryUnspecified: args.attempts > 1 },
    limits: {
      idleMs: limit('no-output-timeout', printsAtEnd ? Number.POSITIVE_INFINITY : limits.idleMs),
      // One attempt is the whole: the limit on that is the one that was asked for.
      attemptMs: limit('attempt-timeout', args.attempts === 1 ? Number.POSITIVE_INFINITY : limits.attemptMs),
      overallMs,
    },
  });
}

function presetOf(agent: AgentCommand | undefined): PresetName {
  if (agent === undefined) return 'subprocess';
  return agent.agent === 'claude' ? 'claudeCli' : 'codex';
}
