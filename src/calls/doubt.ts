import type { FailureFacts } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import type { Stations } from './stations.ts';

/** An attempt's failure that is not counted yet. */
interface Held<I, O> {
  readonly attempt: Attempt<I, O>;
  readonly facts: FailureFacts;
}

/**
 * Whether what is behind an integration lives at all, after a call of it fell silent. Until that is known nothing is dispatched, which would
 * be lost with it, and silence is not counted: calls that fall silent together are one incident when it hangs, and a failure each when it answers.
 */
export class Doubt<I, O> {
  readonly #on: Stations<I, O>;
  #held: Held<I, O>[] = [];
  /** Identity of the inquiry under way. */
  #inquiry: object | undefined = undefined;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  get raised(): boolean {
    return this.#inquiry !== undefined;
  }

  /** A call fell silent. @returns whether its failure is to be held until more is known. */
  raise(): boolean {
    const { link, parts } = this.#on;
    const { onSilence: inquire, clock } = parts;
    if (inquire === undefined) return false;
    if (this.#inquiry === undefined) {
      const inquiry = {};
      this.#inquiry = inquiry;
      // A turn later: a server that was found hung is being ended by then, and its calls find the integration crashed.
      const known = (alive: boolean): void => clock.nextTurn(() => this.#settle(inquiry, alive));
      // Not at once: the other side first hears that the call is given up.
      clock.nextTurn(() => {
        if (this.#inquiry === inquiry) void inquire().then(known, () => known(false));
      });
    }
    // An open circuit waits for its probe's end, whatever it is.
    return link.closed;
  }

  hold(attempt: Attempt<I, O>, facts: FailureFacts): void {
    this.#held.push({ attempt, facts });
  }

  /** What was in doubt is gone, or has been taken back into service: that counts in its own way. */
  forget(): void {
    if (this.#inquiry === undefined) return;
    this.#inquiry = undefined;
    this.#held = [];
    this.#over();
  }

  #settle(inquiry: object, alive: boolean): void {
    if (this.#inquiry !== inquiry) return;
    const { verdicts } = this.#on;
    const held = this.#held;
    this.#inquiry = undefined;
    this.#held = [];
    if (alive) {
      for (const { attempt, facts } of held) verdicts.count(attempt, facts);
    }
    this.#over();
  }

  /** It is known now: what waited for it may go on. */
  #over(): void {
    this.#on.gate.resume('doubt');
    this.#on.gate.fillPlaces();
  }
}
