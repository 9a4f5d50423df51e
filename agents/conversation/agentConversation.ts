import type { BudgetAccount } from '../../src/calls/rates/face.ts';
import { EndedAs, markAs, markOfWork } from '../../src/calls/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';
import { type Failure, type FailureFacts, type Outcome, classify } from '../../src/policy/failures/face.ts';
import { name, readOptions, readValue } from '../../src/policy/options/face.ts';
import { HeardCalls, type SpinningLimits } from '../../src/policy/spinning/face.ts';
import type { BackendConversation, TurnOptions } from './agentBackend.ts';
import { bothFailed, cancelledAfter, mayFallBack } from './agentFallback.ts';
import { createSaidSoFar, createTurnNotes, handOver } from './agentHandover.ts';
import { createAgentStream, type Sink } from './agentStream.ts';
import { type BegunTurn, readOn, ToldEvents, turnOf, TurnStream } from './agentTurnStream.ts';
import {
  type Agent,
  type AgentResult,
  type AgentStreamOptions,
  type AgentTurn,
  type AgentTurnOptions,
  type AgentTurnStream,
  type CheckedTurn,
  type Conversation,
  streamKeys,
  turnKeys,
} from './agentTypes.ts';

/** Time in ms beyond the limit of its turn at which a fallback may still say itself that it has passed. */
const lateMs = 50;
/** Time in ms that the conversation of a fallback may take to end. */
const othersMs = 10_000;

/** Scope that all conversations of one agent share. */
export interface AgentScope {
  readonly agent: string;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly fallback: Agent | undefined;
  readonly fallBackAfterEffects: boolean;
  /** Counts against repetition; undefined where that is not looked for here. */
  readonly spinning: SpinningLimits | undefined;
  /** Budget of all its conversations, and of each. */
  readonly budget: BudgetAccount | undefined;
}

/** A turn that is being answered, by the backend or by the fallback. */
interface Asked {
  readonly prompt: string;
  readonly tell: Sink;
  readonly options: TurnOptions;
  /** On the monotonic clock. */
  readonly dueAt: number;
  /** Notes of the actions of the backend. */
  readonly notes: ReturnType<typeof createTurnNotes>;
}

/** A conversation over one backend, and over that of the fallback once it was needed. */
export class AgentConversation implements Conversation {
  readonly agent: string;
  readonly #scope: AgentScope;
  readonly #backend: BackendConversation;
  readonly #stopped: (conversation: AgentConversation) => void;
  readonly #said = createSaidSoFar();
  /** Calls of the backend's tools, over all turns. */
  readonly #ear: HeardCalls | undefined;
  readonly #ownBudget: BudgetAccount | undefined;
  /** Turns of it that each side has heard. */
  #heardByOwn = 0;
  #heardByOther = 0;
  #other: Conversation | undefined = undefined;
  #current: AbortController | undefined = undefined;
  /** The end of the last turn. */
  #ended: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined = undefined;

  /** @param stopped - told when it was stopped. */
  constructor(scope: AgentScope, backend: BackendConversation, stopped: (conversation: AgentConversation) => void) {
    this.agent = scope.agent;
    this.#scope = scope;
    this.#backend = backend;
    this.#stopped = stopped;
    const { spinning, budget, agent: integration, ...own } = scope;
    const budgets = budget && [budget.ofRun(), budget];
    this.#ownBudget = budgets?.[0];
    const end = (why: FailureFacts): void => this.#current?.abort(new EndedAs(why));
    const caller = { ...own, budgets, integration, session: () => this.id, end };
    this.#ear = (spinning ?? budget) && new HeardCalls(spinning, caller);
  }

  get id(): string | undefined {
    return this.#backend.id;
  }

  get busy(): boolean {
    return this.#current !== undefined;
  }

  send(prompt: string, options: AgentTurnOptions = {}): AgentTurn {
    readValue('prompt', prompt, name);
    return turnOf(this.#begin(prompt, readOptions('options', options, turnKeys)));
  }

  stream(prompt: string, options: AgentStreamOptions = {}): AgentTurnStream {
    readValue('prompt', prompt, name);
    const { resume, ...checked } = readOptions('options', options, streamKeys);
    return new TurnStream(this.#begin(prompt, checked, new ToldEvents(resume)));
  }

  #begin(prompt: string, checked: CheckedTurn, told?: ToldEvents): BegunTurn {
    const events = createAgentStream();
    const controller = new AbortController();
    if (this.#current !== undefined || this.#stopping !== undefined) {
      events.end();
      const failure = this.#stopping === undefined ? busy(this.agent) : stoppedFailure(this.agent);
      return { events, outcome: Promise.resolve({ ok: false, failure }), controller };
    }
    this.#current = controller;
    const { signal: given } = checked;
    markAs(controller.signal, given);
    const passOn = (): void => controller.abort(given?.reason);
    given?.addEventListener('abort', passOn, { once: true });
    if (given?.aborted === true) passOn();
    const tell: Sink = (event) => {
      told?.take(event);
      events.push(event);
    };
    this.#ear?.mark();
    const outcome = this.#answer(prompt, tell, { ...checked, told, signal: controller.signal })
      // A fallback may be of somebody else's making.
      .catch((error: unknown) => crashed(this.agent, error))
      .then((end) => {
        given?.removeEventListener('abort', passOn);
        this.#current = undefined;
        events.end();
        return end;
      });
    this.#ended = outcome;
    return { events, outcome, controller };
  }

  async interrupt(reason?: unknown): Promise<void> {
    this.#current?.abort(reason ?? new Error('interrupted'));
    await Promise.all([this.#ended, this.#backend.released(), this.#others((other) => other.interrupt(reason))]);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #answer(prompt: string, tell: Sink, options: TurnOptions): Promise<Outcome<AgentResult>> {
    const spent = this.#ownBudget?.refusal({ requests: 1 });
    if (spent !== undefined)
      return { ok: false, failure: { ...spent, integration: this.agent, attempts: 0, retryable: false } };
    const notes = createTurnNotes();
    const dueAt = this.#scope.clock.now() + (options.overallMs ?? Number.POSITIVE_INFINITY);
    const sink: Sink = (event) => {
      notes.take(event);
      tell(event);
    };
    const asked = handOver(prompt, this.#said.since(this.#heardByOwn));
    const own = await this.#backend.turn(asked, sink, { ...options, ear: this.#ear });
    if (!own.ok) return this.#fallBack({ prompt, tell, options, dueAt, notes }, own.failure);
    this.#said.add({ prompt, answer: own.value.text });
    this.#heardByOwn = this.#said.count;
    return own;
  }

  /** Has the fallback answer, where there is one and what the backend did allows it; else the failure stays. */
  async #fallBack(asked: Asked, own: Failure): Promise<Outcome<AgentResult>> {
    const { options, dueAt, notes } = asked;
    const { signal, effect, told } = options;
    const { clock, fallback, fallBackAfterEffects } = this.#scope;
    if (
      told?.mayGoOn() === false ||
      fallback === undefined ||
      signal.aborted ||
      !mayFallBack(own, effect, fallBackAfterEffects)
    )
      return { ok: false, failure: own };
    const { length: noted } = notes.lines();
    // Two agents at once would be in each other's way.
    await inTime(this.#backend.released(), { clock, signal, limitMs: dueAt - clock.now() });
    if (signal.aborted) return { ok: false, failure: cancelledAfter(own, signal) };
    if (clock.now() >= dueAt) return { ok: false, failure: own };
    // It acted while it was ended.
    const failure: Failure = notes.lines().length > noted ? { ...own, outcome: 'unknown' } : own;
    if (told?.mayGoOn() === false || !mayFallBack(failure, effect, fallBackAfterEffects)) return { ok: false, failure };
    return this.#handOver(asked, failure, fallback);
  }

  async #handOver(asked: Asked, failure: Failure, fallback: Agent): Promise<Outcome<AgentResult>> {
    const { prompt, tell, options, dueAt, notes } = asked;
    const { clock, facts, agent } = this.#scope;
    const { kind, message } = failure;
    tell({ type: 'fell_back', from: agent, to: fallback.name, kind, message });
    facts.tell({ type: 'agent.fell_back', agent, to: fallback.name, kind, message });
    const cut = { failure, done: notes.lines() };
    const { signal, overallMs, told } = options;
    const limits = overallMs === undefined ? options : { ...options, overallMs: dueAt - clock.now() };
    const words = (since: Parameters<typeof handOver>[1]): string =>
      handOver(told?.resumed(prompt) ?? prompt, since, cut);
    const asking = this.#askOther(fallback, words, tell, limits)
      // It may be of somebody else's making.
      .catch((error: unknown) => crashed(fallback.name, error));
    const another = await inTime(asking, { clock, signal, limitMs: dueAt + lateMs - clock.now() });
    if (another === undefined) {
      if (signal.aborted) return { ok: false, failure: cancelledAfter(failure, signal) };
      void quietly(() => this.#other?.interrupt(new Error('the limit on the turn has passed')));
      return { ok: false, failure: bothFailed(failure, overdue(fallback.name, overallMs), true) };
    }
    if (!another.ok) return { ok: false, failure: bothFailed(failure, another.failure, clock.now() >= dueAt) };
    this.#said.add({ prompt, answer: another.value.text });
    this.#heardByOther = this.#said.count;
    return another;
  }

  async #askOther(
    fallback: Agent,
    words: (since: Parameters<typeof handOver>[1]) => string,
    tell: Sink,
    { told, ...options }: TurnOptions,
  ): Promise<Outcome<AgentResult>> {
    if (this.#other === undefined) {
      const started = await fallback.start({ signal: options.signal });
      if (!started.ok) return started;
      // Another caller may have ended the turn meanwhile, and found nothing to end.
      if (this.#stopping !== undefined || this.#other !== undefined) {
        await quietly(() => started.value.stop());
        return { ok: false, failure: stoppedFailure(this.agent) };
      }
      this.#other = started.value;
    }
    // Part of the turn that has begun, whatever is refused by now.
    markOfWork(options.signal);
    const prompt = words(this.#said.since(this.#heardByOther));
    if (told !== undefined) return readOn(this.#other.stream(prompt, { ...options, resume: told.resume }), tell);
    const turn = this.#other.send(prompt, options);
    for await (const event of turn) tell(event);
    return turn.outcome;
  }

  /** Not for ever: it may be of somebody else's making. */
  async #others(end: (other: Conversation) => Promise<void>): Promise<void> {
    const other = this.#other;
    if (other === undefined) return;
    const ending = quietly(() => end(other));
    await inTime(ending, { clock: this.#scope.clock, limitMs: othersMs });
  }

  async #stop(): Promise<void> {
    this.#current?.abort(new Error('the conversation was stopped'));
    await Promise.all([this.#ended, this.#backend.stop(), this.#others((other) => other.stop())]);
    this.#stopped(this);
  }
}

const refused = { outcome: 'not_started', attempts: 0 } as const;

function busy(agent: string): Failure {
  const message = `${agent} is busy with another turn of this conversation`;
  return { ...refused, kind: 'too_many_requests', reason: 'scope_busy', message, integration: agent, retryable: true };
}

function stoppedFailure(agent: string): Failure {
  const message = `The conversation with ${agent} was stopped`;
  return { ...refused, kind: 'unavailable', reason: 'stopped', message, integration: agent, retryable: false };
}

function overdue(integration: string, limitMs = 0): Failure {
  const message = `${integration} was not done within ${formatDuration(limitMs)}`;
  const facts = { kind: 'timeout', reason: 'overall_timeout', message, outcome: 'unknown' } as const;
  return { ...facts, integration, attempts: 1, retryable: true };
}

function crashed(agent: string, error: unknown): Outcome<never> {
  const facts = classify(error, { wallNow: 0 });
  return { ok: false, failure: { ...facts, integration: agent, attempts: 0, retryable: false } };
}

/** For a fallback of somebody else's making: what it throws while it ends is its own loss. */
async function quietly(work: () => Promise<void> | undefined): Promise<void> {
  try {
    await work();
  } catch {
    // It is not used any more.
  }
}
