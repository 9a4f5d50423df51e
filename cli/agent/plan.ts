import { statSync } from 'node:fs';
import type { ConfigOptions } from '../../src/config/face.ts';
import {
  type IntegrationSettings,
  type PoliciesOptions,
  type PolicyInput,
  checkPolicies,
} from '../../src/policy/face.ts';
import type { KnownAgent } from '../../src/protocol/face.ts';
import { knownWord, UsageError } from '../errors.ts';
import { spendOf } from '../spending.ts';
import { spinningOf } from '../spinning.ts';
import { aboveZero } from '../parse.ts';
import { quoted } from '../sanitize.ts';
import type { AgentArgs } from './command.ts';

/** Task of `unwedge agent`, checked. */
export type AgentPlan = ReturnType<typeof planAgent>;

type Prompt = { readonly text: string } | { readonly file: string };

const backends: readonly KnownAgent[] = ['claude', 'codex', 'goose', 'gemini', 'opencode', 'copilot'];
const help = 'unwedge agent --help';

/**
 * @param config - yields to the command line.
 * @throws {@link UsageError} that names what is wrong.
 */
export function planAgent(args: AgentArgs, config: Pick<ConfigOptions, 'store' | 'policies'> = {}) {
  if (args.backend === undefined) throw new UsageError(`Missing --backend; see \`${help}\``);
  const backend = knownWord('backend', args.backend, backends);
  const fallback = knownWord('backend', args.fallback, backends);
  if (fallback === backend) throw new UsageError(`Expected \`--fallback\` to be another backend than ${backend}`);
  const approve = args.approve ?? 'none';
  if (approve !== 'all' && approve !== 'none') {
    throw new UsageError(`Expected \`--approve\` to be all or none, got ${quoted(approve)}`);
  }
  if (args.resume?.startsWith('-') === true) {
    throw new UsageError(`Expected \`--resume\` to be the id of a conversation, got ${quoted(args.resume)}`);
  }
  if (args.cwd !== undefined && !isDirectory(args.cwd)) {
    throw new UsageError(`Expected \`--cwd\` to be a directory, got ${quoted(args.cwd)}`);
  }
  for (const option of ['timeout', 'no-output-timeout'] as const) aboveZero(`--${option}`, args[option]);
  const { name = backend } = args;
  const other = backends.find((each) => each === name && each !== backend);
  if (other !== undefined)
    throw new UsageError(`Expected \`--name\` to be no name of another backend, got ${quoted(name)}`);
  // The others tell of no calls here.
  const isTold = [backend, fallback ?? backend].every((each) => each === 'claude' || each === 'codex');
  spendOf(args.spend, { '*': {} }, isTold);
  const overallMs = checkPolicies(config.policies).limitOf(name, 'overallMs');
  return {
    backend,
    /** Name of the backend's integration. */
    name,
    fallback,
    resume: args.resume,
    prompt: promptOf(args),
    approvesAll: approve === 'all',
    json: args.json,
    db: args.db ?? config.store,
    /** The program of the backend; undefined: the usual one. */
    command: args.command,
    /** Options of the agent, without its backend and its approver. */
    agent: { cwd: args.cwd, model: args.model, policy: policyOf(args) },
    /** Policies as configured, with the command line over them. */
    policies: withFlags(config.policies ?? {}, args, [name, ...(fallback === undefined ? [] : [fallback])]),
    /** For the whole, that of the fallback included, in ms. */
    overallMs: args.timeout ?? overallMs ?? usualMs,
  };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The prompt itself, or where it is read from; `-` is stdin. */
function promptOf({ operands: [text], 'prompt-file': file }: AgentArgs): Prompt {
  if (text !== undefined && file !== undefined) throw new UsageError('Expected PROMPT or `--prompt-file`, not both');
  if (file !== undefined) return { file };
  if (text === undefined) throw new UsageError(`Missing PROMPT; see \`${help}\``);
  if (text.trim() === '') throw new UsageError('The prompt is empty');
  return text === '-' ? { file: '-' } : { text };
}

/** In ms; also for one attempt: an agent at work is not begun anew because it takes its time. */
const usualMs = 30 * 60_000;

function policyOf({ timeout = usualMs, 'no-output-timeout': idleMs }: AgentArgs): PolicyInput {
  return { limits: { attemptMs: timeout, overallMs: timeout, ...(idleMs !== undefined && { idleMs }) } };
}

function withFlags(
  policies: PoliciesOptions,
  { timeout, 'no-output-timeout': idleMs, spinning: word, spend: limits }: AgentArgs,
  names: readonly string[],
): PoliciesOptions {
  const spinning = spinningOf(word);
  const over = (settings: IntegrationSettings = {}): IntegrationSettings => ({
    ...settings,
    ...(timeout !== undefined && { attemptMs: timeout, overallMs: timeout }),
    ...(idleMs !== undefined && { idleMs }),
    ...(spinning !== undefined && { spinning }),
    ...(limits !== undefined && {
      budget: { ...settings.budget, ...spendOf(limits, settings.budget?.prices) },
    }),
    // A figure may be given in the short form or the long one.
    limits: {
      ...settings.limits,
      ...(timeout !== undefined && { attemptMs: undefined, overallMs: undefined }),
      ...(idleMs !== undefined && { idleMs: undefined }),
    },
  });
  const integrations = Object.fromEntries(names.map((name) => [name, over(policies.integrations?.[name])]));
  return { ...policies, integrations: { ...policies.integrations, ...integrations } };
}
