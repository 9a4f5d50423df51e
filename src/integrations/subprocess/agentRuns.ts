import { withoutValues } from '../../actors/process/valueHider.ts';
import { agentExitFacts, exitFacts, unstartedFacts } from '../../actors/process/processExit.ts';
import { type DeliveredPrompt, deliverPrompt } from '../../actors/prompt/promptDelivery.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import type { BudgetAccount } from '../../calls/rates/budgetAccount.ts';
import type { EndSignal } from '../../machines/subprocessEvents.ts';
import type { ProcessExit } from '../../machines/subprocessExit.ts';
import type { SubprocessInput } from '../../machines/subprocessInput.ts';
import type { Clock } from '../../policy/clock.ts';
import { exitTellers } from '../../policy/failures/exitTellers.ts';
import { mayRetry } from '../../policy/failures/repetition.ts';
import { AttemptError, type FailureFacts, type FailureKind } from '../../policy/failures/failure.ts';
import { type Caller, HeardCalls } from '../../policy/spinning/heardCalls.ts';
import type { SpinningLimits } from '../../policy/spinning/spinningRule.ts';
import type { RetryPolicy } from '../../policy/policy.ts';
import { joinedAnswerOf } from './claudeSession.ts';
import { boundRetries } from './agentRetries.ts';
import { nameOfCommand } from './subprocessRun.ts';
import {
  type AgentCommand,
  agentCommand,
  beginsNamedSession,
  keepsSession,
  resumeArgs,
} from '../../protocol/agentCommand.ts';
import { type AgentReport, answer, createRetryLife } from '../../protocol/agentReport.ts';
import { type OwnProfiles, profileOf } from '../../protocol/agents/profiles.ts';
import { type AgentStream, createAgentStream } from '../../protocol/agentStream.ts';
import { AgentTrail, goOnPrompt, isHarmless, type Left, type Repetition } from '../../protocol/agentTrail.ts';
import { hearCodexLog } from '../../protocol/codexCalls.ts';
import type { RunRequest, SubprocessOptions } from './subprocessOptions.ts';

/** End of a run of a subprocess, with what its agent said where it is one. */
export interface RunResult extends ProcessExit {
  readonly agent?: AgentReport | undefined;
}

/** An attempt, ready to be started. */
interface PreparedRun {
  /** Changes that the prompt and the agent make to the command. */
  readonly input: Pick<SubprocessInput, 'args' | 'stdin' | 'env' | 'onOutput'>;
  /** True where it tells its own signs of life: what it prints besides is none. */
  readonly tellsLife: boolean;
  /** Signal by which it is asked to end. @defaultValue 'SIGTERM' */
  readonly endSignal: EndSignal | undefined;
  /** Aborted once it spins, to be ended for that. */
  readonly spun: AbortSignal;
  /** @throws {@link AttemptError} when the run failed, by its agent's word or by its exit. */
  conclude(exit: ProcessExit): RunResult;
  /** The process has ended, however. Removes what was made for it; never rejects. */
  end(): Promise<void>;
}

/** Remains of the attempts of one call of an agent. */
export interface AgentLeft extends Left {
  readonly agent: AgentReport['agent'];
  /** Words before its session, for people who go on with that; undefined where none are known. */
  readonly resumeWords?: readonly string[] | undefined;
  /** True where its session could not be kept whole. @defaultValue false */
  readonly sessionLost?: boolean | undefined;
}

/** Those who judge the calls of the agent's tools. */
interface Hearing extends Pick<Caller, 'facts' | 'integration'> {
  /** @defaultValue repetition is not looked for */
  readonly limits?: SpinningLimits | undefined;
  /** Budget of all its runs, and of each. @defaultValue none */
  readonly budget?: BudgetAccount | undefined;
}

/** Rules for repeating runs of a command. */
interface Repeating {
  /** That of the integration: what would be tried again. */
  readonly retry: RetryPolicy;
  /** True where another attempt was asked for whatever the ones before did. @defaultValue false */
  readonly always?: boolean | undefined;
  /** Told once a call why there is no further attempt of it, in a few words: what an attempt did stands in the way. Never throws. */
  readonly onRefused: (why: string) => void;
  /** Judges the calls of the agent's tools. @defaultValue they are not judged */
  readonly hears?: Hearing | undefined;
}

/** A call, over all its attempts. */
interface AgentCall {
  /** Budgets of this run, over all its attempts, and of all runs. */
  readonly budgets: readonly BudgetAccount[];
  readonly trail: AgentTrail;
  readonly command: AgentCommand | undefined;
  /** Arguments of the first attempt, without what was added to resume. */
  readonly args: readonly string[];
  stream: AgentStream | undefined;
  /** True where the agent may repeat failed requests by itself in the last attempt. */
  retriesItself: boolean;
  /** Resolves when the process of the last attempt is gone: two at once in one session would get in each other's way. */
  ended: Promise<void>;
  /** True once it was told that there is no further attempt. */
  refused: boolean;
}

/** Time that announced retries count as life after the last progress, in ms: an agent may be told to retry for hours. */
const retryLifeMs = 300_000;

/** The options of a command, with the user's own agents. */
interface AgentRunOptions extends SubprocessOptions {
  readonly agentProfiles?: OwnProfiles | undefined;
}

/** Delivers prompts to the runs of a command, and understands what agents' command lines print. */
export class AgentRuns {
  readonly #clock: Clock;
  readonly #options: AgentRunOptions;
  readonly #repeating: Repeating;
  readonly #calls = new WeakMap<object, AgentCall>();

  constructor(clock: Clock, options: AgentRunOptions, repeating: Repeating) {
    this.#clock = clock;
    this.#options = options;
    this.#repeating = repeating;
  }

  /** @throws {@link AttemptError} of outcome `not_started` when the prompt cannot be delivered. */
  async prepare(request: RunRequest, context: AttemptContext): Promise<PreparedRun> {
    const call = this.#callOf(request, context);
    await call.ended;
    const { trail, command, budgets } = call;
    trail.refuseRepetition(this.#repetition(call, context));
    const spent = budgets[0]?.refusal({ requests: 1 });
    if (spent !== undefined) throw new AttemptError(spent);
    const { args, stdin, remove } = await this.#deliver(request, call, context);
    const bounded = await boundRetries(command, args, this.#options, this.#mayRepeat(call, context));
    const tellsLife = command?.format === 'stream-json';
    const heard = tellsLife ? createRetryLife(this.#clock, context.touch, retryLifeMs) : undefined;
    const spun = new AbortController();
    const end = (why: FailureFacts): void => spun.abort(new AttemptError(why));
    const session = (): string | undefined => call.stream?.report(0).sessionId;
    const { hears } = this.#repeating;
    const ear = hears && new HeardCalls(hears.limits, { ...hears, budgets, clock: this.#clock, session, end });
    const stream = command === undefined ? undefined : createAgentStream(command, bounded.retriesItself, heard, ear);
    let release = (): void => undefined;
    call.stream = stream;
    call.retriesItself = bounded.retriesItself === true;
    call.ended = new Promise<void>((resolve) => {
      release = resolve;
    });
    if (stream !== undefined) trail.begin(stream);
    const onOutput: SubprocessInput['onOutput'] = (chunk, from) => {
      if (from === 'stdout') stream?.push(chunk);
      else if (ear !== undefined && tellsLife && command.agent === 'codex')
        hearCodexLog(String(Buffer.from(chunk)), ear);
    };
    return {
      spun: spun.signal,
      tellsLife,
      endSignal: command === undefined ? undefined : profileOf(command).stop.signal,
      input: { args: bounded.args, stdin, env: bounded.env, onOutput },
      conclude: (exit) => {
        const unstarted = unstartedFacts(exit, this.#options.command, call.args);
        if (exit.reason === 'spawn-error' || unstarted !== undefined) trail.forget();
        if (unstarted !== undefined) throw new AttemptError(withoutValues(unstarted, this.#options.env));
        // One that had ended by itself then has its own end.
        const why = exit.reason === 'cancelled' ? (spun.signal.reason as AttemptError | undefined)?.facts : undefined;
        return conclude(exit, call, this.#options, (facts) => this.#judged(facts, call, context), why);
      },
      async end() {
        release();
        await remove();
      },
    };
  }

  /** Adds what an attempt that ended by a limit had told by then. */
  amendTimeout(facts: FailureFacts, context: AttemptContext): FailureFacts {
    const call = this.#calls.get(context.call);
    if (call?.stream === undefined) return facts;
    const known = this.#judged(
      whileWaiting(facts, call.stream.report(this.#clock.wallNow()), titleOf(call)),
      call,
      context,
    );
    return withoutValues(known, this.#options.env);
  }

  /** Returns what the attempts of a call leave, with its session where it can be gone on with; undefined where no agent ran for it. */
  leftBy(call: AttemptContext['call']): AgentLeft | undefined {
    const { command, trail, args, stream } = this.#calls.get(call) ?? {};
    if (command === undefined || trail === undefined) return undefined;
    const { effects, sessionId } = trail.left;
    const { output, resume } = profileOf(command);
    const isKept = output !== 'claude' || keepsSession(args ?? []);
    const isLost = stream?.report(this.#clock.wallNow()).sessionLost;
    return {
      agent: command.agent,
      sessionLost: isLost,
      resumeWords: resume?.words,
      effects,
      sessionId: isKept ? sessionId : undefined,
    };
  }

  #callOf(request: RunRequest, { call }: AttemptContext): AgentCall {
    const known = this.#calls.get(call);
    if (known !== undefined) return known;
    const { command, agent } = this.#options;
    const args = [...(this.#options.args ?? []), ...(request.args ?? [])];
    const budget = this.#repeating.hears?.budget;
    const started: AgentCall = {
      budgets: budget === undefined ? [] : [budget.ofRun(), budget],
      trail: new AgentTrail(() => this.#clock.wallNow()),
      command: agentCommand(command, args, agent, this.#options.agentProfiles),
      args,
      stream: undefined,
      retriesItself: false,
      ended: Promise.resolve(),
      refused: false,
    };
    this.#calls.set(call, started);
    return started;
  }

  /** The prompt of an attempt, which goes on in the session of the ones before where there is one. */
  #deliver(request: RunRequest, call: AgentCall, { attempt }: AttemptContext): Promise<DeliveredPrompt> {
    const { left } = call.trail;
    const sessionId = attempt > 1 ? sessionToResume(call, left) : undefined;
    const { prompt, stdin } = sessionId === undefined ? request : resumedRequest(request, left);
    const args = sessionId === undefined ? call.args : resumeArgs(call.args, sessionId);
    if (prompt === undefined) return Promise.resolve({ args, stdin, remove: () => Promise.resolve() });
    return deliverPrompt(prompt, { args, stdin, promptBy: this.#options.promptBy });
  }

  #repetition(call: AgentCall, { effect }: AttemptContext): Repetition {
    const resumable = sessionToResume(call, call.trail.left) !== undefined;
    return { effect, resumable, asked: this.#repeating.always };
  }

  /** Tells whether there may be another attempt at all: what an attempt did that printed text is not known. */
  #mayRepeat({ command }: AgentCall, { mayRepeat: isRepeated, effect }: AttemptContext): boolean {
    return isRepeated && (command?.format !== 'text' || this.#repeating.always === true || isHarmless(effect));
  }

  /** Adds what is known of a failed attempt besides how it ended. */
  #judged(facts: FailureFacts, call: AgentCall, context: AttemptContext): FailureFacts {
    const { retry, always, onRefused } = this.#repeating;
    const known = call.trail.judge(facts, this.#repetition(call, context));
    // Codex has repeated it in vain, or may go on to do so.
    const isOwned = call.stream?.report(this.#clock.wallNow()).failure?.shouldRetry === false;
    const shouldRetry = always === true ? undefined : isOwned ? false : known.shouldRetry;
    // True where it would be, did nothing count but how it failed.
    const isRefused = shouldRetry === false && mayRetry({ ...known, shouldRetry: undefined }, 'idempotent', retry);
    if (isRefused && context.attempt < context.maxAttempts && !call.refused) {
      call.refused = true;
      onRefused(reason(call, call.trail.left, isOwned, facts.kind));
    }
    return { ...known, shouldRetry };
  }
}

function conclude(
  exit: ProcessExit,
  { command, stream, args, retriesItself }: AgentCall,
  options: SubprocessOptions,
  judged: (facts: FailureFacts) => FailureFacts,
  why: FailureFacts | undefined,
): RunResult {
  if (command === undefined || stream === undefined) {
    const { expectsOutput, command: program } = options;
    const facts = exitFacts(exit, {
      expectsOutput,
      calledAs: nameOfCommand(program, undefined),
      tellers: exitTellers(program, args),
    });
    if (facts !== undefined) throw new AttemptError(withoutValues(facts, options.env));
    return exit;
  }
  stream.end(exit.outputCut);
  const told = stream.report(exit.endedAt);
  const facts = why ?? agentExitFacts(exit, command, told, stream.missed, retriesItself);
  if (facts !== undefined) throw new AttemptError(withoutValues(judged(facts), options.env));
  const text =
    command.format === 'text' ? answer(exit.stdout.text.trim()) : (joinedAnswer(command, told, options) ?? told.text);
  return { ...exit, agent: { ...told, text, concluded: true } };
}

/** Joins an answer in pieces: the result alone has the last one, the session has them all. */
function joinedAnswer(
  { agent, format }: AgentCommand,
  told: AgentReport,
  { env }: SubprocessOptions,
): string | undefined {
  if (agent !== 'claude' || format !== 'json' || told.sessionId === undefined || told.effects === 'none')
    return undefined;
  const joined = joinedAnswerOf(told.sessionId, told.text ?? '', { ...process.env, ...env });
  return joined === undefined ? undefined : answer(joined);
}

const titleOf = ({ command }: AgentCall): string => (command === undefined ? 'It' : profileOf(command).title);

/** A limit that passed, with what the agent said last: one that waited because of a limit of its API has met that one. */
function whileWaiting(facts: FailureFacts, { waiting }: AgentReport, title: string): FailureFacts {
  if (waiting === undefined) return facts;
  const message = `${facts.message.replace(/\.$/, '')}; ${title} said last: ${waiting.message}`;
  if (waiting.kind !== 'rate_limit' && waiting.kind !== 'quota') return { ...facts, message };
  const { kind, status, retryAfterMs } = waiting;
  return { ...facts, kind, message, status, retryAfterMs, ...(retryAfterMs === undefined && { shouldRetry: false }) };
}

/** Why there is no further attempt, for people. */
function reason({ command }: AgentCall, { effects }: Left, isOwned: boolean, kind: FailureKind): string {
  if (command === undefined) return 'what it did is not known';
  const { title, formats, output } = profileOf(command);
  const isClaude = output === 'claude';
  if (effects === 'possible') return `${title} may have changed something, and there is no session to go on with`;
  if (isOwned && !isClaude && kind === 'rate_limit') return `${title} does not tell how long the API asks to wait`;
  if (isOwned && !isClaude) return `${title} has asked again by itself`;
  const better = formats?.best;
  if (isOwned) return `${title} has asked again where the wait was short; ${better} tells more`;
  const advice = better === undefined || command.format === 'stream-json' ? '' : `; ${better} does`;
  return `this output of ${title} does not tell what it has done${advice}`;
}

/** The session in which the next attempt goes on; undefined when it begins from the start. */
function sessionToResume({ command, args, stream }: AgentCall, { effects, sessionId }: Left): string | undefined {
  if (command?.agent !== 'claude' || sessionId === undefined || !keepsSession(args)) return undefined;
  // In one that is not whole, what was done would be done again.
  if (stream?.report(0).sessionLost === true) return undefined;
  return effects === 'possible' || beginsNamedSession(args) ? sessionId : undefined;
}

/** The session knows the request already: what is left to say is that it was interrupted. */
function resumedRequest(request: RunRequest, { effects }: Left): RunRequest {
  if (effects !== 'possible') return request;
  if (request.prompt !== undefined) return { ...request, prompt: goOnPrompt };
  // With a prompt among the arguments Claude reads both.
  return { ...request, stdin: goOnPrompt };
}
