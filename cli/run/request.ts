import { programFlaw } from '../../src/policy/text/face.ts';
import type { ConfigOptions } from '../../src/config/face.ts';
import {
  type AgentCommand,
  type AgentOption,
  agentCommand,
  agentNames,
  presetOfAgent,
  printsAtEnd,
  profileOf,
  profilesFrom,
} from '../../src/protocol/face.ts';
import { limitsOf, ownLimits } from '../../src/policy/spinning/face.ts';
import { commandKey } from '../../install/commandKey.ts';
import { type IntegrationPolicy, type Limits, checkPolicies, resolvePolicy } from '../../src/policy/face.ts';
import { knownWord, unknown, UsageError, valueAmong } from '../errors.ts';
import { spendOf } from '../spending.ts';
import { spinningOf } from '../spinning.ts';
import { aboveZero } from '../parse.ts';
import type { RunArgs } from './command.ts';

/** Task of `unwedge run`, checked. */
export type RunPlan = ReturnType<typeof planRun>;

/**
 * Makes the plan of a run from its command line, and from what is configured, which yields to it.
 * @throws {@link UsageError} that names what is wrong.
 */
export function planRun(
  args: RunArgs,
  rest: readonly string[],
  terminals: Readonly<Record<'stdin' | 'stdout', boolean>>,
  config: Pick<ConfigOptions, 'store' | 'retention' | 'policies' | 'agentProfiles'> = {},
) {
  const [command, ...words] = rest;
  if (command === undefined) throw new UsageError('No command given; write it after --, as in `unwedge run -- make`');
  if (command === '') throw new UsageError('Expected a command after --, got ""');
  const flaw = programFlaw(command, 'the command after --');
  if (flaw !== undefined) throw new UsageError(flaw);
  if (args.json && args.stream)
    throw new UsageError(
      'Expected `--json` or `--stream`, not both: the report has the output, and is printed at the end',
    );
  const { timeout, 'attempt-timeout': attemptMs } = args;
  if (timeout !== undefined && attemptMs !== undefined && attemptMs > timeout)
    throw new UsageError('Expected `--attempt-timeout` to be at most `--timeout`, the limit on all attempts together');
  const agent = knownWord('agent', args.agent ?? 'auto', [...agentOptions, ...Object.keys(config.agentProfiles ?? {})]);
  const agentProfiles = profilesFrom(config.agentProfiles);
  const known = agentCommand(command, words, agent, agentProfiles);
  const inheritsStdin = args.attempts === 1 && args['prompt-file'] === undefined;
  const onTerminal = inheritsStdin && terminals.stdin;
  const holdsOutput = args.attempts > 1 && !args.stream;
  const silenceMatters = args['no-output-timeout'] !== undefined;
  const name = args.name ?? commandKey(command, words);
  return {
    command,
    args: words as readonly string[],
    /** Name that its failures are counted under. */
    name,
    agent,
    agentProfiles,
    /** Counts against calls that the agent repeats. */
    spinning: limitsOf(spinningOf(args.spinning) ?? config.policies?.integrations?.[name]?.spinning, ownLimits),
    /** True where the output is taken for that of an agent. */
    isAgent: known !== undefined,
    /** Worth of the exit code of that agent. */
    exits: known === undefined ? undefined : profileOf(known).exits,
    /** True where it is an agent that prints a result with its answer. */
    printsResult: known?.agent === 'claude' && known.format !== 'text',
    /** Lets another attempt begin anew whatever the ones before did. */
    retriesAlways: valueAmong('--retry', args.retry ?? 'safe', retryOptions) === 'always',
    policy: policyOf(args, known, onTerminal, { name, policies: config.policies }),
    /** Whence each attempt gets its stdin; `-` is ours. */
    promptFile: args['prompt-file'],
    /** True where the command gets our stdin as its own. */
    inheritsStdin,
    /** True where it uses our terminal: it stays in our process group, and Ctrl-C reaches it from there. */
    onTerminal,
    /** True where it writes to our terminal itself. */
    inheritsStdout: onTerminal && terminals.stdout && !args.json && !silenceMatters,
    /** Holds the output of an attempt until it is known to be the last. */
    holdsOutput,
    json: args.json,
    db: args.db ?? config.store,
    /** Configured times for which its records are kept. */
    retention: config.retention,
  };
}

const agentOptions: readonly AgentOption[] = ['auto', 'none', ...agentNames];

const retryOptions = ['safe', 'always'] as const;

/** Retries are only for users who ask for them. Then they are meant, whatever the command did before it failed. */
function policyOf(
  args: RunArgs,
  agent: AgentCommand | undefined,
  onTerminal: boolean,
  { name, policies: given }: Pick<ConfigOptions, 'policies'> & { readonly name: string },
): IntegrationPolicy {
  const policies = checkPolicies(given);
  const preset = args.policy ?? (agent === undefined ? 'subprocess' : presetOfAgent(agent));
  const start = Object.hasOwn(policies.presets, preset) ? policies.presets[preset] : undefined;
  if (start === undefined) throw unknown('policy', preset, Object.keys(policies.presets));
  const base = args.policy === undefined ? policies.policyOf('run', undefined, start, name) : start;
  const own = (limit: keyof Limits): number =>
    (args.policy === undefined ? policies.limitOf(name, limit) : undefined) ?? Number.POSITIVE_INFINITY;
  const limit = (option: 'timeout' | 'attempt-timeout' | 'no-output-timeout', otherwise: number): number => {
    return aboveZero(`--${option}`, args[option]) ?? (onTerminal ? Number.POSITIVE_INFINITY : otherwise);
  };
  const { retry, limits } = base;
  const budget = spendOf(args.spend, base.budget?.prices, agent !== undefined && agent.format !== 'text');
  const idleMs = agent !== undefined && printsAtEnd(agent) ? own('idleMs') : limits.idleMs;
  // A limit that was not asked for here may be longer than one that was: it is never reached then.
  return resolvePolicy(
    'run',
    {
      budget,
      retry: { ...retry, maxAttempts: args.attempts, repeatAfter: args.attempts > 1 ? 'lost' : retry.repeatAfter },
    },
    {
      ...base,
      limits: {
        idleMs: limit('no-output-timeout', idleMs),
        // A single attempt is the whole: the limit on that is the one that was asked for.
        attemptMs: limit('attempt-timeout', args.attempts === 1 ? own('attemptMs') : limits.attemptMs),
        // An attempt is let take the time that it was given.
        overallMs: limit('timeout', Math.max(limits.overallMs, args['attempt-timeout'] ?? 0)),
      },
    },
  );
}
