import type { IncomingMessage } from 'node:http';
import { type AttemptContext, type Call, type StreamReader, streamCancelled } from '../../src/calls/face.ts';
import {
  AttemptError,
  type FailureFacts,
  type Outcome,
  classify,
  failureKinds,
  mayRepeat,
} from '../../src/policy/failures/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { repeatsItself } from '../../src/policy/spinning/face.ts';
import type { LayerWhy } from '../../src/sessions/face.ts';
import type { StreamedAttempt } from '../../src/streams/face.ts';
import type { ContentLimits } from './contentWatch.ts';
import { ExchangeSettings } from './exchangeSettings.ts';
import type { FailedAnswer } from './failedAnswer.ts';
import type { Asked, ForwardedRequest } from './forwardedRequest.ts';
import { type ForwardedAnswer, Forwarding } from './forwarding.ts';
import { gone, type Passage } from './passage.ts';
import { conversationsOf } from './repeats.ts';
import type { ApiProxySettings } from './settings.ts';
import type { Bucket, Upstream } from './upstream.ts';

/**
 * Request on its way through one upstream: a call of its bucket, whose answer is a stream. The call path decides on attempts, waits and limits; the exchange
 * says when there may be another, and what of an answer has reached the client.
 */
export class Exchange implements StreamReader<unknown>, ForwardedRequest {
  readonly asked: Asked;
  readonly upstream: Upstream;
  readonly limits: ApiProxySettings;
  readonly clock: Clock;
  readonly settings: ExchangeSettings;
  readonly maxPauseMs: number;
  /** True once something of the answer has been given to the client: then there is no other attempt. */
  isCommitted = false;
  /** True once all of the answer has been given to it. */
  isDone = false;
  /** The way through the circuit of the upstream that the attempt under way has. */
  passage: Passage | undefined = undefined;
  /** The last answer that said no. */
  lastAnswer: FailedAnswer | undefined = undefined;
  /** The attempt that began last. */
  forwarding: Forwarding | undefined = undefined;
  readonly #bucket: Bucket;
  /** Until when there may be another attempt, in ms since the request arrived. */
  readonly #budgetMs: number;
  readonly #isLast: boolean;
  #call: Call<unknown, unknown> | undefined = undefined;
  #lastFacts: FailureFacts | undefined = undefined;
  #timeouts = 0;

  /** @param isLast - whether no other upstream can be asked: then it is held back while the circuit is open. */
  constructor(
    asked: Asked,
    upstream: Upstream,
    bucket: Bucket,
    limits: ApiProxySettings,
    clock: Clock,
    isLast: boolean,
  ) {
    this.asked = asked;
    this.upstream = upstream;
    this.limits = limits;
    this.clock = clock;
    this.maxPauseMs = bucket.path.policy.maxPauseMs;
    this.#bucket = bucket;
    this.#isLast = isLast;
    // The one that is asked next needs time as well.
    this.#budgetMs = isLast ? limits.budgetMs : limits.budgetMs / 2;
    const leftMs = Math.max(1, this.#budgetMs - this.#elapsedMs);
    this.settings = new ExchangeSettings(this, bucket.path.policy, limits, {
      streams: asked.streams,
      effect: asked.route.effect,
      label: asked.route.label,
      leftMs,
    });
  }

  /** Resolves with how it ended; whatever was to be given to the client by the upstream has been. Never rejects. */
  run(): Promise<Outcome<unknown>> {
    return new Promise((resolve) => {
      this.#call = this.#bucket.path.start(this, this.settings, resolve);
    });
  }

  get callName(): string {
    return `${this.#bucket.path.name}-${this.#call?.number ?? 0}`;
  }

  get integration(): string {
    return this.#bucket.path.name;
  }

  /** Tells how it is under way, for who waits for its client. A limit on bytes moves with each sign of life: where content is seen, its limit is told. */
  layer(by: string): LayerWhy {
    const { streams, request } = this.asked;
    const sinceMs = this.#elapsedMs;
    const isAnswered = this.settings.stage === 'events' || this.settings.stage === 'body';
    const silence = isAnswered ? this.forwarding?.silence : undefined;
    const isSeen = streams && (!isAnswered || silence !== undefined);
    const silentMs = isSeen ? (silence?.silentMs ?? sinceMs) : undefined;
    const limitInMs = silence?.limitInMs ?? (this.#call && this.#bucket.path.why(this.#call)?.next.inMs);
    const about = { what: this.settings.label, sinceMs, conversations: conversationsOf(request.headers) };
    return { kind: 'stream', by, ...about, silentMs, limitInMs };
  }

  /** The client has gone: nobody wants the answer, unless it has all of it. */
  clientLeft(): void {
    const call = this.#call;
    if (call === undefined || call.settled || this.isDone) return;
    this.#bucket.path.end(call, streamCancelled('the client went away', true, call.attempt !== undefined));
  }

  // Members that the call path asks for.

  inputOf(input: unknown): unknown {
    return input;
  }

  get continuation(): 'any' | 'none' {
    if (this.isCommitted || this.asked.body.kind === 'passing') return 'none';
    // An answer that is no stream takes as long as the model thinks: a second one is all there is time for.
    if (!this.asked.streams && this.#timeouts > 0) return 'none';
    return this.#mayWait(this.#lastFacts?.retryAfterMs ?? 0) ? 'any' : 'none';
  }

  async read(context: unknown, attempt: StreamedAttempt): Promise<ForwardedAnswer> {
    const { touch, rateLimit, traceContext } = context as AttemptContext;
    const passage = this.upstream.passage();
    this.passage = passage;
    this.#lastFacts = undefined;
    this.settings.stage = 'held';
    try {
      await passage.enter((waitMs) => this.#isLast && this.#mayWait(waitMs));
      // It was given up in the meantime.
      if (this.passage !== passage || this.#call?.settled === true) throw new AttemptError(gone);
    } catch (error) {
      this.#note(error instanceof AttemptError ? error.facts : undefined);
      if (this.passage !== passage) passage.ended(gone);
      throw error;
    }
    this.settings.stage = 'headers';
    touch();
    const forwarding = new Forwarding(this, attempt, { touch, rateLimit, traceContext });
    this.forwarding = forwarding;
    try {
      forwarding.send();
    } catch (error) {
      forwarding.giveUp(this.judgedError(error));
    }
    try {
      return await forwarding.ended;
    } catch (error) {
      this.#note(error instanceof AttemptError ? error.facts : undefined);
      throw error;
    }
  }

  /** The attempt under way is given up: its limit has passed, or nobody wants its answer. */
  givenUp(facts: FailureFacts): void {
    if (facts.kind === 'timeout') this.#timeouts++;
    this.#note(facts);
    const { passage } = this;
    this.passage = undefined;
    this.forwarding?.giveUp(facts);
    passage?.ended(facts);
  }

  // Members that an attempt asks for.

  get bytesMs(): number {
    return this.limits.bytesMs;
  }

  get contentLimits(): ContentLimits {
    return this.limits;
  }

  /** True once it is time to show the client a sign of life, though there is no content yet. */
  get hasWaitedLong(): boolean {
    return this.#elapsedMs >= this.limits.budgetMs;
  }

  /** Judges an answer for the bucket: faults of the upstream are counted there. */
  judged(facts: FailureFacts): FailureFacts {
    const isCounted = failureKinds[facts.kind].breaker === 'failure' && facts.kind !== 'quota';
    const breaker = isCounted ? ('ignored' as const) : undefined;
    return { ...facts, breaker };
  }

  /** Gives the meaning of a broken connection; of its words none is told. */
  judgedError(error: unknown): FailureFacts {
    const facts = classify(error, { wallNow: this.clock.wallNow(), maxPauseMs: this.maxPauseMs });
    const { upstream } = this;
    const code = typeof facts.code === 'string' ? facts.code : undefined;
    const what = code === undefined ? '' : ` (${code})`;
    const isUnreached = facts.outcome === 'not_started';
    if (isUnreached) upstream.unreachable(code ?? facts.kind);
    const message = isUnreached
      ? `${upstream.host} cannot be reached${what}`
      : `The connection to ${upstream.host} broke${what}`;
    return { ...this.judged(facts), message, cause: undefined };
  }

  repeatsItself(characters: number): FailureFacts | undefined {
    const { spinning } = this.limits;
    if (spinning === 'off') return undefined;
    const { integration, callName: call, settings } = this;
    this.upstream.tell({ type: 'call.repeats_itself', integration, call, label: settings.label, characters });
    return spinning === 'hold' || spinning === 'end' ? repeatsItself(characters) : undefined;
  }

  /** Tells whether another attempt may follow a failure of this kind. */
  mayFollow(facts: FailureFacts): boolean {
    if (this.continuation === 'none' || !failureKinds[facts.kind].retried || facts.shouldRetry === false) return false;
    return mayRepeat(facts, this.asked.route.effect, 'lost');
  }

  /** The first of the answer goes to the client. */
  commit(answer: IncomingMessage, headers: readonly string[]): void {
    this.asked.response.writeHead(answer.statusCode ?? 200, answer.statusMessage, [...headers]);
    this.isCommitted = true;
    this.asked.releaseBody();
    this.passage?.answered();
  }

  /** Tells whether there is time for an attempt after a wait. */
  #mayWait(waitMs: number): boolean {
    return this.#elapsedMs + waitMs < this.#budgetMs;
  }

  get #elapsedMs(): number {
    return this.clock.now() - this.asked.arrivedAt;
  }

  #note(facts: FailureFacts | undefined): void {
    this.#lastFacts = facts;
    this.settings.stage = 'waiting';
  }
}
