import { type CallSettings, type StreamReader, defaultSettings } from '../../src/calls/face.ts';
import type { Effect, IntegrationPolicy, RetryPolicy } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import type { ApiProxySettings } from './settings.ts';

/** Stage of a request: the next attempt waits, or is held back by the circuit, or the headers of an answer are awaited, or its body is read. */
type Stage = 'waiting' | 'held' | 'headers' | 'events' | 'body';

/**
 * The settings of the call of one request. Its limits change with the stage it is in. Between two attempts they are at their shortest: that
 * is what the place in the queue of deadlines is reckoned from, and from there it only moves on.
 */
export class ExchangeSettings implements CallSettings<unknown, unknown> {
  readonly retry: RetryPolicy;
  readonly effect: Effect;
  readonly label: string;
  readonly stream: StreamReader<unknown>;
  readonly givenUp: (input: unknown, facts: FailureFacts) => void;
  readonly session = undefined;
  readonly signal = undefined;
  readonly fallback = undefined;
  readonly attemptMs: number;
  stage: Stage = 'waiting';
  readonly #limits: Pick<ApiProxySettings, 'headersMs' | 'bytesMs' | 'wholeMs'>;
  readonly #overallMs: number;
  readonly #leftMs: number;
  readonly #streams: boolean;

  /** @param about - `streams`: whether the answer is to be a stream. `leftMs`: what is left of the time for its headers. */
  constructor(
    exchange: StreamReader<unknown> & { givenUp(facts: FailureFacts): void },
    policy: IntegrationPolicy,
    limits: ApiProxySettings,
    about: { readonly streams: boolean; readonly effect: Effect; readonly label: string; readonly leftMs: number },
  ) {
    const { streams, effect, label, leftMs } = about;
    const usual = defaultSettings<unknown, unknown>(policy, effect);
    this.retry = usual.retry;
    this.effect = effect;
    this.label = label;
    this.stream = exchange;
    this.givenUp = (_input, facts) => exchange.givenUp(facts);
    this.attemptMs = usual.attemptMs;
    this.#overallMs = usual.overallMs;
    this.#limits = limits;
    this.#leftMs = leftMs;
    this.#streams = streams;
  }

  get idleMs(): number {
    const { headersMs, bytesMs, wholeMs } = this.#limits;
    switch (this.stage) {
      case 'waiting':
        return Math.min(headersMs, bytesMs, wholeMs);
      case 'held':
        return Number.POSITIVE_INFINITY;
      case 'headers':
        return this.#streams ? headersMs : wholeMs;
      case 'events':
        return bytesMs;
      case 'body':
        return wholeMs;
    }
  }

  get overallMs(): number {
    const { wholeMs } = this.#limits;
    if (this.stage === 'events' || this.stage === 'body') return this.#overallMs;
    // An answer that is no stream says nothing until it is there: the last attempt has its time.
    return this.#streams ? this.#leftMs : this.#leftMs + wholeMs;
  }
}
