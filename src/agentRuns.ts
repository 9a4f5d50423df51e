import { agentExitFacts } from './actors/agentExit.ts';
import { childEnvironment } from './actors/childEnvironment.ts';
import { exitFacts } from './actors/processExit.ts';
import { deliverPrompt } from './actors/promptDelivery.ts';
import type { AttemptContext } from './calls/operation.ts';
import type { ProcessExit } from './machines/subprocessExit.ts';
import type { SubprocessInput } from './machines/subprocessInput.ts';
import type { Clock } from './policy/clock.ts';
import type { Effect } from './policy/effects.ts';
import { AttemptError, type FailureFacts } from './policy/failure.ts';
import {
  type AgentCommand,
  agentCommand,
  beginsNamedSession,
  keepsSession,
  resumeArgs,
  withoutCodexRetries,
} from './protocol/agentCommand.ts';
import { type AgentReport, answer } from './protocol/agentReport.ts';
import { type AgentStream, createAgentStream } from './protocol/agentStream.ts';
import type { RunRequest, SubprocessOptions } from './subprocessOptions.ts';

/** How a run of a subprocess ended, with what its agent said where it is one. */
export interface RunResult extends ProcessExit {
  readonly agent?: AgentReport | undefined;
}

/** One attempt, ready to be started. */
export interface PreparedRun {
  /** What the prompt and the agent change about the command. */
  readonly input: Pick<SubprocessInput, 'args' | 'stdin' | 'env' | 'onOutput'>;
  /** @throws {@link AttemptError} when the run failed, by its agent's word or by its exit. */
  conclude(exit: ProcessExit): RunResult;
  /** The process has ended, however. Removes what was made for it; never rejects. */
  end(): Promise<void>;
}

/** The runs of one integration. */
export interface AgentRuns {
  /** @throws {@link AttemptError} of outcome `not_started` when the prompt cannot be delivered. */
  prepare(request: RunRequest, context: AttemptContext): Promise<PreparedRun>;
  /** What an attempt that ended by a limit had told by then. */
  readonly amendTimeout: (facts: FailureFacts, context: AttemptContext) => FailureFacts;
}

/** What one attempt of a call leaves to the next. */
interface Trail {
  command: AgentCommand | undefined;
  args: readonly string[];
  stream: AgentStream | undefined;
  /** Resolves when its process is gone: two at once in one session would get in each other's way. */
  ended: Promise<void>;
}

/** What a session is told that goes on after its run was cut short; the request itself is in its history. */
const resumePrompt =
  'The last run of this session ended before it was done. Go on with the request. Some of it may have taken effect: ' +
  'check what was done before doing it again.';

/** Delivers prompts to the runs of a command, and understands what agents' command lines print. */
export function createAgentRuns(clock: Clock, options: SubprocessOptions): AgentRuns {
  const trails = new WeakMap<object, Trail>();

  return {
    async prepare(request, context) {
      const before = trails.get(context.call);
      await before?.ended;
      const given = [...(options.args ?? []), ...(request.args ?? [])];
      const command = agentCommand(options.command, given, options.agent);
      const sessionId = before === undefined ? undefined : sessionToResume(before, given, clock.wallNow());
      refuseRepetition(before, sessionId, context, clock.wallNow());
      const asked = sessionId === undefined ? request : resumedRequest(request, before, clock.wallNow());
      const args = sessionId === undefined ? given : resumeArgs(given, sessionId);
      const delivered =
        asked.prompt === undefined
          ? { args, stdin: asked.stdin, remove: () => Promise.resolve() }
          : await deliverPrompt(asked.prompt, { args, stdin: asked.stdin, promptBy: options.promptBy });
      const bounded = context.maxAttempts > 1 ? withoutOwnRetries(command, delivered.args, options) : {};
      const stream = command === undefined ? undefined : createAgentStream(command);
      let release = (): void => undefined;
      const ended = new Promise<void>((resolve) => {
        release = resolve;
      });
      const trail: Trail = { command, args: given, stream, ended };
      trails.set(context.call, trail);
      return {
        input: {
          args: bounded.args ?? delivered.args,
          stdin: delivered.stdin,
          env: bounded.env ?? options.env,
          onOutput(chunk, from) {
            if (from === 'stdout') stream?.push(chunk);
          },
        },
        conclude: (exit) => conclude(exit, trail, context, options),
        async end() {
          release();
          await delivered.remove();
        },
      };
    },
    amendTimeout(facts, context) {
      const trail = trails.get(context.call);
      return trail === undefined ? facts : withEffects(facts, trail, context, clock.wallNow());
    },
  };
}

function conclude(exit: ProcessExit, trail: Trail, context: AttemptContext, options: SubprocessOptions): RunResult {
  const { command, stream } = trail;
  if (command === undefined || stream === undefined) {
    const facts = exitFacts(exit, options);
    if (facts !== undefined) throw new AttemptError(facts);
    return exit;
  }
  stream.end();
  const told = stream.report(exit.endedAt);
  const facts = agentExitFacts(exit, command, told, stream.missed);
  if (facts !== undefined) throw new AttemptError(withEffects(facts, trail, context, exit.endedAt));
  const text = command.format === 'text' ? answer(exit.stdout.text.trim()) : told.text;
  return { ...exit, agent: { ...told, text, concluded: true } };
}

/** Says what is known of the effect of a failed run, and whether the next one goes on where it ended. */
function withEffects(facts: FailureFacts, trail: Trail, { effect }: AttemptContext, wallNow: number): FailureFacts {
  const { effects } = trail.stream?.report(wallNow) ?? { effects: 'unknown' };
  if (facts.outcome === 'not_started' || facts.outcome === 'cancelled') return facts;
  // What was refused in the end may have begun with an act, where nothing tells that it has not.
  if (effects === 'unknown') return effect === 'mutating' ? { ...facts, outcome: 'unknown' } : facts;
  if (effects === 'none') return facts.kind === 'cancelled' ? facts : { ...facts, outcome: 'failed' };
  if (sessionToResume(trail, trail.args, wallNow) !== undefined)
    return { ...facts, outcome: 'unknown', resumable: true };
  return { ...facts, outcome: 'unknown', ...(!isHarmless(effect) && { shouldRetry: false }) };
}

const isHarmless = (effect: Effect | undefined): boolean => effect === 'readOnly' || effect === 'idempotent';

/** A run that is told to end may act before it does, after its call was promised another attempt. */
function refuseRepetition(
  before: Trail | undefined,
  sessionId: string | undefined,
  { effect }: AttemptContext,
  wallNow: number,
): void {
  if (before?.stream?.report(wallNow).effects !== 'possible' || isHarmless(effect)) return;
  if (sessionId !== undefined && effect !== 'mutating') return;
  const message = 'It is not tried again: the run before may have changed something while it was ended';
  throw new AttemptError({ kind: 'unknown', message, outcome: 'unknown', shouldRetry: false, breaker: 'ignored' });
}

/** The session in which the next attempt goes on; undefined when it begins from the start. */
function sessionToResume({ command, stream }: Trail, args: readonly string[], wallNow: number): string | undefined {
  const { sessionId, effects } = stream?.report(wallNow) ?? {};
  if (command?.agent !== 'claude' || sessionId === undefined || !keepsSession(args)) return undefined;
  return effects === 'possible' || beginsNamedSession(args) ? sessionId : undefined;
}

/** The session knows the request already: what is left to say is that it was interrupted. */
function resumedRequest(request: RunRequest, before: Trail | undefined, wallNow: number): RunRequest {
  if (before?.stream?.report(wallNow).effects !== 'possible') return request;
  if (request.prompt !== undefined) return { ...request, prompt: resumePrompt };
  // With a prompt among the arguments Claude reads both.
  return { ...request, stdin: resumePrompt };
}

/** One owner of retries: those inside an agent are switched off, but where the user has set them. */
function withoutOwnRetries(
  command: AgentCommand | undefined,
  args: readonly string[],
  { env, envMode, envAllow }: SubprocessOptions,
): Partial<Pick<SubprocessInput, 'args' | 'env'>> {
  if (command?.agent === 'codex') return { args: withoutCodexRetries(args) };
  if (command === undefined) return {};
  const name = 'CLAUDE_CODE_MAX_RETRIES';
  const isSet =
    (env !== undefined && Object.hasOwn(env, name)) || childEnvironment({ envMode, envAllow }, '')[name] !== undefined;
  return isSet ? {} : { env: { ...env, [name]: '0' } };
}
