import type { FailureFacts } from '../policy/failure.ts';
import type { Attempt } from './call.ts';
import type { MachineLink } from './machineLink.ts';

export interface DoubtParts {
  readonly link: MachineLink;
  /** Asks for a sign of life of what is behind the integration; resolves with whether there was one, and never rejects. */
  readonly inquire: (() => PromiseLike<boolean>) | undefined;
  readonly nextTurn: (callback: () => void) => void;
  /** It is known now: what waited for it may go on. */
  readonly over: () => void;
}

/** An attempt's failure that is not counted yet. */
interface Held {
  readonly attempt: Pick<Attempt<never, never>, 'admission'>;
  readonly facts: FailureFacts;
}

/**
 * Whether what is behind an integration lives at all, after a call of it fell silent. Until that is known nothing is dispatched, which would
 * be lost with it, and silence is not counted: calls that fall silent together are one incident when it hangs, and a failure each when it answers.
 */
export class Doubt {
  readonly #parts: DoubtParts;
  #held: Held[] = [];
  /** Identity of the inquiry under way. */
  #inquiry: object | undefined = undefined;

  constructor(parts: DoubtParts) {
    this.#parts = parts;
  }

  get raised(): boolean {
    return this.#inquiry !== undefined;
  }

  /** A call fell silent. @returns whether its failure is to be held until more is known. */
  raise(): boolean {
    const { link, inquire, nextTurn } = this.#parts;
    if (inquire === undefined) return false;
    if (this.#inquiry === undefined) {
      const inquiry = {};
      this.#inquiry = inquiry;
      // A turn later: a server that was found hung is being ended by then, and its calls find the integration crashed.
      const known = (alive: boolean): void => nextTurn(() => this.#settle(inquiry, alive));
      // Not at once: the other side first hears that the call is given up.
      nextTurn(() => {
        if (this.#inquiry === inquiry) void inquire().then(known, () => known(false));
      });
    }
    // An open circuit waits for its probe's end, whatever it is.
    return link.closed;
  }

  hold(attempt: Held['attempt'], facts: FailureFacts): void {
    this.#held.push({ attempt, facts });
  }

  /** What was in doubt is gone, or has been taken back into service: that counts in its own way. */
  forget(): void {
    if (this.#inquiry === undefined) return;
    this.#inquiry = undefined;
    this.#held = [];
    this.#parts.over();
  }

  #settle(inquiry: object, alive: boolean): void {
    if (this.#inquiry !== inquiry) return;
    const { link, over } = this.#parts;
    const held = this.#held;
    this.#inquiry = undefined;
    this.#held = [];
    if (alive) {
      for (const { attempt, facts } of held) {
        link.recordFailure(attempt.admission, facts.kind, facts.retryAfterMs);
      }
    }
    over();
  }
}
