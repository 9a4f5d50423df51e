import type { IntegrationState } from '../machines/integration.ts';
import type { CallFigures } from '../machines/integrationEvents.ts';
import type { Clock, Timer } from '../policy/clock.ts';

/** How long an integration that nobody calls any more is left `calling`, in ms; twice that at most. */
const lingerMs = 10;

/** The calls the machine follows. */
export interface FollowedCalls {
  readonly attempts: { readonly size: number };
  readonly waiting: { readonly size: number };
}

/** The side of the machine that follows the calls. */
export interface Follower {
  /** Has the machine follow the call table now. */
  flush(): void;
  /** Whether its machine may be left as it is for a moment: it is `calling`, and nobody hears of its changes. */
  mayLinger(): boolean;
  /** The last moment was over. */
  lingered(now: number): void;
}

/**
 * When the machine follows the call table: at the end of a turn of the event loop, once however many calls changed; after the last call
 * out a moment later, as what was called a moment ago is called again, and two events for each call would cost ten times the call.
 */
export class MachineSync {
  readonly #clock: Clock;
  readonly #calls: FollowedCalls;
  readonly #follower: Follower;
  #queued = false;
  #timer: Timer | undefined = undefined;
  #usedMeanwhile = false;

  constructor(clock: Clock, calls: FollowedCalls, follower: Follower) {
    this.#clock = clock;
    this.#calls = calls;
    this.#follower = follower;
  }

  get figures(): CallFigures {
    return { attempts: this.#calls.attempts.size, waiting: this.#calls.waiting.size };
  }

  /** The state of a closed circuit with these calls. */
  get state(): IntegrationState {
    if (this.#calls.attempts.size > 0) return 'calling';
    return this.#calls.waiting.size > 0 ? 'backoff' : 'idle';
  }

  /** Whether {@link Follower.lingered} will be told within a moment. */
  get isLingering(): boolean {
    return this.#timer !== undefined;
  }

  /** At the end of this turn. */
  soon(): void {
    if (this.#queued) return;
    this.#queued = true;
    this.#clock.nextTurn(this.#turned);
  }

  attemptStarted(): void {
    this.#usedMeanwhile = true;
  }

  /** An attempt has left the table. */
  attemptEnded(): void {
    if (this.#timer !== undefined) return;
    if (this.#follower.mayLinger()) this.#linger();
    else this.soon();
  }

  /** The machine has changed by itself: there is nothing to put off. */
  end(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#follower.lingered(this.#clock.now());
  }

  readonly #turned = (): void => {
    this.#queued = false;
    this.#follower.flush();
  };

  /** One timer does for all calls of its time. */
  #linger(): void {
    this.#usedMeanwhile = false;
    this.#timer = this.#clock.setTimeout(this.#waited, lingerMs);
  }

  readonly #waited = (): void => {
    this.#timer = undefined;
    this.#follower.lingered(this.#clock.now());
    if (this.#usedMeanwhile && this.#follower.mayLinger()) this.#linger();
    else this.#follower.flush();
  };
}
