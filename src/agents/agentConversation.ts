import { isOfWork, markOfWork } from '../calls/workSignal.ts';
import type { Clock } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import type { Failure, Outcome } from '../policy/failure.ts';
import { choice, duration, type KeysOf, name, signal, text } from '../policy/optionKeys.ts';
import { readOptions, readValue } from '../policy/readOptions.ts';
import { classify } from '../policy/classify.ts';
import { effects } from '../policy/effects.ts';
import type { BackendConversation, TurnOptions } from './agentBackend.ts';
import { bothFailed, cancelledAfter, mayFallBack } from './agentFallback.ts';
import { createSaidSoFar, createTurnNotes, handOver } from './agentHandover.ts';
import { createAgentStream, type Sink } from './agentStream.ts';
import type { Agent, AgentResult, AgentTurn, Conversation, AgentTurnOptions } from './agentTypes.ts';
import { inTime } from '../policy/inTime.ts';

/** How much later than at the limit of its turn a fallback may say itself that it has passed, in ms. */
const lateMs = 50;
/** How long the conversation of a fallback may take to end, in ms. */
const othersMs = 10_000;

export interface ConversationParts {
  readonly agent: string;
  readonly backend: BackendConversation;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly fallback: Agent | undefined;
  readonly fallBackAfterEffects: boolean;
  /** Told when it was stopped. */
  readonly stopped: () => void;
}

/** A conversation over one backend, and over that of the fallback once it was needed. */
export function createConversation(parts: ConversationParts): Conversation {
  const { agent, backend, clock, fallback } = parts;
  const said = createSaidSoFar();
  /** How much of it each side has heard. */
  let heardByOwn = 0;
  let heardByOther = 0;
  let other: Conversation | undefined;
  let current: AbortController | undefined;
  /** The end of the last turn. */
  let ended: Promise<unknown> = Promise.resolve();
  let stopping: Promise<void> | undefined;

  async function answer(prompt: string, tell: Sink, options: TurnOptions): Promise<Outcome<AgentResult>> {
    const notes = createTurnNotes();
    const dueAt = clock.now() + (options.overallMs ?? Number.POSITIVE_INFINITY);
    const sink: Sink = (event) => {
      notes.take(event);
      tell(event);
    };
    const own = await backend.turn(handOver(prompt, said.since(heardByOwn)), sink, options);
    if (own.ok) {
      said.add({ prompt, answer: own.value.text });
      heardByOwn = said.count;
      return own;
    }
    let { failure } = own;
    const { signal, effect } = options;
    if (fallback === undefined || signal.aborted || !mayFallBack(failure, effect, parts.fallBackAfterEffects))
      return own;
    const { length: noted } = notes.lines();
    // Two agents at once would be in each other's way.
    await inTime(backend.released(), { clock, signal, limitMs: dueAt - clock.now() });
    if (signal.aborted) return { ok: false, failure: cancelledAfter(failure, signal) };
    if (clock.now() >= dueAt) return own;
    // It acted while it was ended.
    if (notes.lines().length > noted) failure = { ...failure, outcome: 'unknown' };
    if (!mayFallBack(failure, effect, parts.fallBackAfterEffects)) return { ok: false, failure };
    tell({ type: 'fell_back', from: agent, to: fallback.name, kind: failure.kind, message: failure.message });
    parts.facts.tell({
      type: 'agent.fell_back',
      agent,
      to: fallback.name,
      kind: failure.kind,
      message: failure.message,
    });
    const cut = { failure, done: notes.lines() };
    const limits = options.overallMs === undefined ? options : { ...options, overallMs: dueAt - clock.now() };
    const words = (since: ReturnType<typeof said.since>): string => handOver(prompt, since, cut);
    // It may be of somebody else's making.
    const asked = askOther(fallback, words, tell, limits).catch((error: unknown) => crashed(fallback.name, error));
    const another = await inTime(asked, { clock, signal, limitMs: dueAt + lateMs - clock.now() });
    if (another === undefined) {
      if (signal.aborted) return { ok: false, failure: cancelledAfter(failure, signal) };
      void quietly(() => other?.interrupt(new Error('the limit on the turn has passed')));
      return { ok: false, failure: bothFailed(failure, overdue(fallback.name, options.overallMs), true) };
    }
    if (!another.ok) return { ok: false, failure: bothFailed(failure, another.failure, clock.now() >= dueAt) };
    said.add({ prompt, answer: another.value.text });
    heardByOther = said.count;
    return another;
  }

  async function askOther(
    fallback: Agent,
    words: (since: ReturnType<typeof said.since>) => string,
    tell: Sink,
    options: TurnOptions,
  ): Promise<Outcome<AgentResult>> {
    if (other === undefined) {
      const started = await fallback.start({ signal: options.signal });
      if (!started.ok) return started;
      // Another caller may have ended the turn meanwhile, and found nothing to end.
      if (stopping !== undefined || other !== undefined) {
        await quietly(() => started.value.stop());
        return { ok: false, failure: stoppedFailure(agent) };
      }
      other = started.value;
    }
    // Part of the turn that has begun, whatever is refused by now.
    markOfWork(options.signal);
    const turn = other.send(words(said.since(heardByOther)), options);
    for await (const event of turn) tell(event);
    return turn.outcome;
  }

  return {
    agent,
    get id() {
      return backend.id;
    },
    get busy() {
      return current !== undefined;
    },
    send(prompt, options = {}) {
      readValue('prompt', prompt, name);
      const checked = readOptions('options', options, turnKeys);
      const stream = createAgentStream();
      if (current !== undefined || stopping !== undefined) {
        stream.end();
        const failure = stopping === undefined ? busy(agent) : stoppedFailure(agent);
        return turnOf(stream, Promise.resolve({ ok: false, failure }));
      }
      const controller = new AbortController();
      current = controller;
      const { signal: given } = options;
      if (isOfWork(given)) markOfWork(controller.signal);
      const passOn = (): void => controller.abort(given?.reason);
      given?.addEventListener('abort', passOn, { once: true });
      if (given?.aborted === true) passOn();
      const asked = answer(prompt, stream.push, { ...checked, signal: controller.signal });
      // A fallback may be of somebody else's making.
      const outcome = asked
        .catch((error: unknown) => crashed(agent, error))
        .then((end) => {
          given?.removeEventListener('abort', passOn);
          current = undefined;
          stream.end();
          return end;
        });
      ended = outcome;
      return turnOf(stream, outcome);
    },
    async interrupt(reason) {
      current?.abort(reason ?? new Error('interrupted'));
      await Promise.all([ended, backend.released(), others((other) => other.interrupt(reason))]);
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };

  /** Not for ever: it may be of somebody else's making. */
  async function others(end: (other: Conversation) => Promise<void>): Promise<void> {
    if (other === undefined) return;
    const asked = other;
    await inTime(
      quietly(() => end(asked)),
      { clock, limitMs: othersMs },
    );
  }

  async function stop(): Promise<void> {
    current?.abort(new Error('the conversation was stopped'));
    await Promise.all([ended, backend.stop(), others((other) => other.stop())]);
    parts.stopped();
  }
}

function turnOf(stream: ReturnType<typeof createAgentStream>, outcome: Promise<Outcome<AgentResult>>): AgentTurn {
  return {
    outcome,
    get missed() {
      return stream.missed;
    },
    [Symbol.asyncIterator]: () => stream.iterator(),
  };
}

const turnKeys = {
  signal,
  effect: choice(effects),
  label: text(),
  idleMs: duration(),
  overallMs: duration(),
} satisfies KeysOf<AgentTurnOptions>;

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
  const message = `${integration} was not done within ${Math.round(limitMs)} ms`;
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
