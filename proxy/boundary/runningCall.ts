import { formatDuration } from '../../src/policy/text/face.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Timer } from '../../src/policy/face.ts';
import type { BoundarySettings } from './boundaryOptions.ts';

/** Why a call ended before its handler did. */
export type EndedBy = 'limit' | 'cancelled' | 'uncaught' | 'closing';

type CallLimits = Pick<BoundarySettings, 'clock' | 'idleMs' | 'overallMs'>;

/** Calls of all servers of this process: an error that nobody caught is the process's, and so is the end of its stdin. */
const running = new Set<RunningCall>();
const current = new AsyncLocalStorage<RunningCall>();

const waiters = new Set<() => void>();

/** Resolves when no call is in flight. */
export function allCallsEnded(): Promise<void> {
  return running.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.add(resolve));
}

/** Calls that have not ended. */
export function callsInFlight(): readonly RunningCall[] {
  return [...running];
}

/**
 * The call in whose doing this is asked: also in a timer, a listener or a promise that its handler left behind. Undefined where that
 * cannot be told.
 */
export function currentCall(): RunningCall | undefined {
  return current.getStore();
}

/** Runs a handler as the doing of its call. */
export function runAs<T>(call: RunningCall, work: () => T): T {
  return current.run(call, work);
}

/** A call whose handler runs; until it has ended, its first end decides. */
export class RunningCall {
  readonly #settings: CallLimits;
  readonly #client: AbortSignal | undefined;
  readonly #ended: (by: EndedBy, error: Error) => void;
  readonly #own = new AbortController();
  readonly #startedAt: number;
  readonly #cancelled = (): void => this.end('cancelled', new Error('Cancelled by the client'));
  #lastSignAt: number;
  #asking = 0;
  #timer: Timer | undefined = undefined;
  #ending: { readonly by: EndedBy; readonly at: number } | undefined = undefined;
  #isOver = false;

  /**
   * @param client - aborted when the client gives the call up.
   * @param ended - told once, when the call is ended before its handler.
   */
  constructor(settings: CallLimits, client: AbortSignal | undefined, ended: (by: EndedBy, error: Error) => void) {
    this.#settings = settings;
    this.#client = client;
    this.#ended = ended;
    this.#startedAt = settings.clock.now();
    this.#lastSignAt = this.#startedAt;
    running.add(this);
    this.#arm();
    client?.addEventListener('abort', this.#cancelled, { once: true });
    if (client?.aborted === true) this.#cancelled();
  }

  /** Signal that the handler is to hear; aborted when the call is ended before it. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends it with an error. Later calls do nothing. */
  end(by: EndedBy, error: Error): void {
    if (this.#isOver) return;
    this.#ending = { by, at: this.#settings.clock.now() };
    this.#leave();
    this.#ended(by, error);
    // The client's own reason is kept.
    this.#own.abort(by === 'cancelled' ? this.#client?.reason : error);
  }

  /** The handler let itself be heard. */
  alive(): void {
    this.#lastSignAt = this.#settings.clock.now();
  }

  /** The handler waits for the client, during which it is not idle, until the function it gets is called. */
  asks(): () => void {
    this.#asking += 1;
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.#asking -= 1;
      this.alive();
      if (!this.#isOver) this.#arm();
    };
  }

  /** The handler has ended. @returns how its call had been ended before it, and how long ago in ms; undefined when it was not. */
  finished(): { readonly by: EndedBy; readonly lateByMs: number } | undefined {
    if (!this.#isOver) this.#leave();
    if (this.#ending === undefined) return undefined;
    const { by, at } = this.#ending;
    return { by, lateByMs: this.#settings.clock.now() - at };
  }

  #leave(): void {
    this.#isOver = true;
    this.#settings.clock.clearTimeout(this.#timer);
    this.#client?.removeEventListener('abort', this.#cancelled);
    running.delete(this);
    if (running.size > 0) return;
    for (const wake of waiters) wake();
    waiters.clear();
  }

  get #dueAt(): number {
    const { clock, idleMs, overallMs } = this.#settings;
    const idleDueAt = this.#lastSignAt + idleMs + (clock.stalls?.since(this.#lastSignAt) ?? 0);
    return Math.min(this.#asking > 0 ? Infinity : idleDueAt, this.#startedAt + overallMs);
  }

  /** After a blocked event loop timers run before the I/O that would have shown a sign of life. */
  #arm(): void {
    const { clock } = this.#settings;
    clock.clearTimeout(this.#timer);
    const judge = (): void => this.#judge();
    this.#timer = clock.setTimeout(() => clock.nextTurn(judge), Math.max(0, this.#dueAt - clock.now()));
  }

  #judge(): void {
    const { clock, idleMs, overallMs } = this.#settings;
    if (this.#isOver) return;
    if (clock.now() < this.#dueAt) {
      this.#arm();
      return;
    }
    const overall = clock.now() >= this.#startedAt + overallMs;
    const what = overall
      ? `did not end within ${formatDuration(overallMs)}`
      : `gave no sign of life for ${formatDuration(idleMs)}`;
    this.end('limit', new Error(`The tool ${what} and was given up; its outcome is unknown`));
  }
}
