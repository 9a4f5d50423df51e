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
  readonly #held: Held<I, O>[] = [];
  /** Identity of the inquiry under way. */
  #inquiry: object | undefined = undefined;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  get raised(): boolean {
    return this.#inquiry !== undefined;
  }

  /** A call passed its limit: whether that is to be held against the other side is asked for, where it can be. */
  raise(): void {
    const { onSilence: inquire, clock } = this.#on.parts;
    if (inquire === undefined) return;
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
  }

  /** Whether the failure of an attempt that passed a limit is to be held until more is known. */
  holds({ call }: Attempt<I, O>): boolean {
    if (this.#inquiry === undefined) return false;
    // An open circuit waits for its probe's end, whatever it is; a tool alone says nothing of it.
    return this.#on.link.closed || this.#on.tools.toolOf(call) !== undefined;
  }

  hold(attempt: Attempt<I, O>, facts: FailureFacts): void {
    const { verdicts, tools } = this.#on;
    this.#held.push({ attempt, facts });
    if (tools.toolOf(attempt.call) !== undefined) verdicts.ignored(attempt.admission);
  }

  /** What was in doubt is gone, or has been taken back into service: that counts in its own way. */
  forget(): void {
    if (this.#inquiry === undefined) return;
    this.#inquiry = undefined;
    this.#drop();
    this.#over();
  }

  #settle(inquiry: object, alive: boolean): void {
    if (this.#inquiry !== inquiry) return;
    this.#inquiry = undefined;
    if (alive) this.#count();
    else this.#drop();
    this.#over();
  }

  /** The other side answers: what a tool did is the tool's alone. */
  #count(): void {
    const { verdicts, tools } = this.#on;
    for (const { attempt, facts } of this.#held.splice(0)) {
      if (tools.toolOf(attempt.call) !== undefined) tools.failed(attempt, facts);
      else verdicts.count(attempt, facts);
    }
  }

  /** The other side is gone, which counts in its own way. */
  #drop(): void {
    for (const { attempt } of this.#held.splice(0)) this.#on.tools.ignored(attempt.call);
  }

  /** It is known now: what waited for it may go on. */
  #over(): void {
    this.#on.gate.resume('doubt');
    this.#on.gate.fillPlaces();
  }
}
