import type { IntegrationState } from '../../machines/integration.ts';
import type { CallFigures } from '../../machines/integrationEvents.ts';
import type { Clock, Timer } from '../../policy/clock.ts';

/** Time in ms that an integration that nobody calls any more is left `calling`; twice that at most. */
const lingerMs = 10;

/** The calls whose numbers decide between `idle`, `calling` and `backoff`. */
export interface FollowedCalls {
  readonly inFlight: { readonly size: number };
  readonly waiting: { readonly size: number };
}

/** Driver of the machine. */
export interface Follower {
  /** Sends the machine the numbers of calls, when its state has to change for them. */
  flush(): void;
  /** Tells whether the machine may stay `calling` for a moment after the last call: it is `calling`, and nobody listens to its changes. */
  mayLinger(): boolean;
}

/**
 * Decides when the machine is told of the calls: at the end of a turn of the event loop, once however many calls changed. After the last
 * call has ended it waits a moment longer, since the next call is often near, and two events for each call would cost ten times the call.
 */
export class MachineSync {
  /** True while the machine is left `calling` for a moment. */
  isLingering = false;
  /** An attempt has started since that moment began. */
  isUsed = false;
  readonly #clock: Clock;
  readonly #calls: FollowedCalls;
  readonly #follower: Follower;
  #queued = false;
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock, calls: FollowedCalls, follower: Follower) {
    this.#clock = clock;
    this.#calls = calls;
    this.#follower = follower;
  }

  get figures(): CallFigures {
    return { attempts: this.#calls.inFlight.size, waiting: this.#calls.waiting.size };
  }

  /** The state of a closed circuit with these calls. */
  get state(): IntegrationState {
    if (this.#calls.inFlight.size > 0) return 'calling';
    return this.#calls.waiting.size > 0 ? 'backoff' : 'idle';
  }

  /** At the end of this turn, or later where nobody listens. */
  soon(): void {
    if (this.#queued || this.isLingering) return;
    if (this.#follower.mayLinger()) this.#linger();
    else {
      this.#queued = true;
      this.#clock.nextTurn(this.#turned);
    }
  }

  /** The machine has changed its state: the moment of waiting is over. */
  end(): void {
    if (!this.isLingering) return;
    this.isLingering = false;
    this.#clock.clearTimeout(this.#timer);
  }

  readonly #turned = (): void => {
    this.#queued = false;
    // It may have been told since, as a call began, and be left as it is by now.
    if (this.#follower.mayLinger()) this.soon();
    else this.#follower.flush();
  };

  /** Waits with one timer for all calls of its time. */
  #linger(): void {
    this.isUsed = false;
    this.isLingering = true;
    this.#timer = this.#clock.setTimeout(this.#waited, lingerMs);
  }

  readonly #waited = (): void => {
    this.isLingering = false;
    if (this.isUsed && this.#follower.mayLinger()) this.#linger();
    else this.#follower.flush();
  };
}
