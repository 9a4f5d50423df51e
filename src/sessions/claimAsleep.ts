import type { FreeClaim, Opened } from './persistence.ts';
import type { Claim } from './sessionStore.ts';

/** Claim of a session that was made while it slept, with the store on which that was. */
interface MadeAsleep {
  readonly opened: Opened;
  readonly claim: FreeClaim;
}

/** A session's claim of itself while it sleeps: asked for with those of others, and kept until its parts take it over. */
export class ClaimAsleep {
  /** True from when it is asked for until it is known what came of it. */
  isAsked = false;
  #made: MadeAsleep | undefined = undefined;

  get isMade(): boolean {
    return this.#made !== undefined;
  }

  keep(opened: Opened, claim: FreeClaim): void {
    this.#made = { opened, claim };
  }

  /** Leaves it to who wakes, or to nobody. @returns undefined where there is none */
  take(): MadeAsleep | undefined {
    const made = this.#made;
    this.#made = undefined;
    return made;
  }

  /** Releases it where another runtime may have the session. @returns true where it did */
  giveUp(): boolean {
    if (this.#made?.opened.store.handsOver !== true) return false;
    void this.take()?.claim.ledger.release();
    return true;
  }
}

/** True where a claim is free and left nothing to go on with, so that its session may sleep on. */
export function isQuiet(claim: Claim | undefined): claim is FreeClaim {
  if (claim === undefined || claim.held) return false;
  const { waiting, deadLetters, lost, open } = claim.recovered;
  return waiting.length + deadLetters.length + lost.length + open.length === 0;
}
