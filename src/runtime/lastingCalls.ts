import type { Clock, Timer } from '../policy/clock.ts';
import type { OpenCall } from '../store/runtimes.ts';

/** A call that takes so long is on record while it is open, in ms: what is quicker would cost more to write than it tells. */
const lastingMs = 1000;
/** Most of them that are told: the row of a runtime stays small. */
const mostTold = 100;

/** A call under way, with its start on the clock of the runtime, in ms. */
export type CallUnderWay = Omit<OpenCall, 'startedAt'> & { readonly startedAt: number };

/**
 * The calls of a runtime that take long and belong to no session. They are on record beside the runtime while they are open, so that those of a
 * process that was killed get their final record from whoever looks next.
 */
export class LastingCalls {
  /** Told when there are others than before. */
  changed: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #sources = new Set<() => Iterable<CallUnderWay>>();
  #told: readonly OpenCall[] = [];
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls that are to be on record. */
  get told(): readonly OpenCall[] {
    return this.#told;
  }

  /** @param source - the calls that are under way. @returns how it leaves. */
  add(source: () => Iterable<CallUnderWay>): () => void {
    this.#sources.add(source);
    return () => {
      this.#sources.delete(source);
      this.#look();
    };
  }

  /** A call of a source has begun. */
  began(): void {
    this.#timer ??= this.#clock.setTimeout(() => this.#look(), lastingMs, { ref: false });
  }

  /** A call of a source has ended, and is none of its calls any more. */
  ended(call: string): void {
    if (this.#told.some((each) => each.call === call)) this.#look();
  }

  #look(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = this.#clock.now();
    const wallOffset = this.#clock.wallNow() - now;
    const open = [...this.#sources].flatMap((source) => [...source()]);
    if (open.length > 0) this.began();
    const told = open
      .filter(({ startedAt }) => now - startedAt >= lastingMs)
      .slice(0, mostTold)
      .map((call) => ({ ...call, startedAt: Math.round(call.startedAt + wallOffset) }));
    const isSame = told.length === this.#told.length && told.every(({ call }, at) => call === this.#told[at]?.call);
    if (isSame) return;
    this.#told = told;
    this.changed();
  }
}
