import type { Clock, Timer } from '../../../src/policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../../src/policy/failure.ts';
import { cancelled, timedOut } from './rpcPeerErrors.ts';

export interface RequestOptions {
  /** In ms. @defaultValue none: the answer or the end of the connection */
  readonly limitMs?: number | undefined;
  /** Gives the request up; its answer is dropped. The other side is told nothing. */
  readonly signal?: AbortSignal | undefined;
  /** Sent however many wait and whatever the other side writes: it ends something. @defaultValue false */
  readonly urgent?: boolean | undefined;
}

/** End of a request of ours. */
export interface RequestEnd {
  readonly id: number;
  readonly method: string;
  readonly elapsedMs: number;
  readonly how: 'answered' | 'failed' | 'timeout' | 'given_up' | 'lost';
  /** The limit it had, in ms. */
  readonly limitMs?: number | undefined;
  /** Why it was not answered. */
  readonly facts?: FailureFacts | undefined;
}

/** A request of ours from its sending to its end, which comes once. */
export class PendingRequest {
  readonly id: number;
  readonly method: string;
  /** Rejects with an {@link AttemptError} whose facts say what is known. */
  readonly answer: Promise<unknown>;
  readonly #limitMs: number | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #ended: (end: RequestEnd) => void;
  readonly #giveUp = (): void => this.fail('given_up', cancelled(this.method, this.#signal?.reason));
  #isOver = false;
  #timer: Timer | undefined = undefined;
  #resolve: (value: unknown) => void = () => undefined;
  #reject: (error: AttemptError) => void = () => undefined;

  /** @param ended - told of its end before the caller is. Must not throw. */
  constructor(
    id: number,
    method: string,
    { limitMs, signal }: Pick<RequestOptions, 'limitMs' | 'signal'>,
    clock: Clock,
    ended: (end: RequestEnd) => void,
  ) {
    this.id = id;
    this.method = method;
    this.#limitMs = limitMs;
    this.#signal = signal;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#ended = ended;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (limitMs !== undefined) {
      // An answer that was in the pipe while the event loop was blocked is read in the turn after the late timer.
      const expire = (): void => this.fail('timeout', timedOut(method, limitMs));
      this.#timer = clock.setTimeout(() => clock.nextTurn(expire), limitMs, { running: true });
    }
    signal?.addEventListener('abort', this.#giveUp, { once: true });
  }

  answered(value: unknown): void {
    if (this.#end('answered')) this.#resolve(value);
  }

  fail(how: Exclude<RequestEnd['how'], 'answered'>, facts: FailureFacts): void {
    if (this.#end(how, facts)) this.#reject(new AttemptError(facts));
  }

  #end(how: RequestEnd['how'], facts?: FailureFacts): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { id, method } = this;
    const limitMs = this.#limitMs;
    this.#clock.clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#giveUp);
    this.#ended({ id, method, elapsedMs: this.#clock.now() - this.#startedAt, how, limitMs, facts });
    return true;
  }
}
