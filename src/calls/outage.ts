import type { FailureFacts } from '../policy/failure.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';

/** When an integration is crashed: the thing behind it is gone, or more work goes on than may be replaced. */
export class Outage<I, O> {
  readonly #on: Stations<I, O>;
  #overwhelmed = false;
  #since = 0;
  #told = false;
  /** It ended as it was to: neither that nor its coming back is told. One that an operator ended is told as that elsewhere. */
  #quiet = false;
  #last: FailureFacts | undefined = undefined;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** What ended the thing behind it, while it is gone. */
  get last(): FailureFacts | undefined {
    return this.#last;
  }

  /** The thing behind it has yet to start. */
  startsDown(): void {
    this.#since = this.#on.parts.clock.now();
    // A first start is no restart.
    this.#quiet = !this.#on.link.started;
  }

  /** A restart takes it back into service from here on, not the end of work that goes on. */
  needsRestart(): void {
    this.#overwhelmed = false;
  }

  begin(facts: FailureFacts, quietly = false): void {
    const { parts, link, records, attempts } = this.#on;
    if (link.lastState !== 'crashed') this.#since = parts.clock.now();
    this.#last = facts;
    // First the machine, so that the calls find it crashed and none of them counts on its own: one incident counts once.
    link.lost();
    const isOrder = facts.reason === 'restarted';
    if (!quietly && !isOrder) {
      if (this.#told) records.restartFailed(facts.message);
      else records.crashed(facts.message);
    }
    this.#quiet = quietly && !this.#told;
    this.#told ||= !quietly && !isOrder;
    attempts.loseAll(facts);
  }

  end(): void {
    const { parts, link, records } = this.#on;
    if (link.lastState !== 'crashed') return;
    const isQuiet = this.#quiet;
    this.#overwhelmed = false;
    this.#told = false;
    this.#quiet = false;
    this.#last = undefined;
    link.restarted();
    if (!isQuiet) records.restarted(parts.clock.now() - this.#since);
  }

  /** There is more work that will not end than may be replaced. */
  overwhelm(): void {
    const { parts, link } = this.#on;
    if (link.lastState === 'crashed') return;
    this.#overwhelmed = true;
    this.begin(refusal.tooMuchAbandoned(parts.name, parts.policy));
  }

  /** What is left of such work may be replaced, or is forgiven. */
  withinBound(): void {
    if (this.#overwhelmed) this.end();
  }
}
