import type { FailureFacts } from '../policy/failure.ts';
import type { CallPathParts } from './callPathParts.ts';
import type { CallRecords } from './callRecords.ts';
import type { MachineLink } from './machineLink.ts';
import * as refusal from './refusal.ts';

export interface OutageParts extends Pick<CallPathParts<never, never>, 'name' | 'policy' | 'clock'> {
  readonly link: MachineLink;
  readonly records: Pick<CallRecords<never, never>, 'crashed' | 'restarted'>;
  /** Ends what was in flight. */
  readonly loseAll: (facts: FailureFacts) => void;
}

/** When an integration is crashed: the thing behind it is gone, or more work goes on than may be replaced. */
export class Outage {
  readonly #parts: OutageParts;
  #overwhelmed = false;
  #since = 0;
  #told = false;
  /** It ended as it was to: neither that nor its coming back is told. */
  #quiet = false;
  #last: FailureFacts | undefined = undefined;

  constructor(parts: OutageParts) {
    this.#parts = parts;
  }

  /** What ended the thing behind it, while it is gone. */
  get last(): FailureFacts | undefined {
    return this.#last;
  }

  /** The thing behind it has yet to start. */
  startsDown(): void {
    this.#since = this.#parts.clock.now();
  }

  /** A restart takes it back into service from here on, not the end of work that goes on. */
  needsRestart(): void {
    this.#overwhelmed = false;
  }

  begin(facts: FailureFacts, quietly = false): void {
    const { clock, link, records, loseAll } = this.#parts;
    if (link.lastState !== 'crashed') this.#since = clock.now();
    this.#last = facts;
    // First the machine, so that the calls find it crashed and none of them counts on its own: one incident counts once.
    link.send({ type: 'integration.lost' });
    if (!this.#told && !quietly) records.crashed(facts.message);
    this.#quiet = quietly && !this.#told;
    this.#told ||= !quietly;
    loseAll(facts);
  }

  end(): void {
    const { clock, link, records } = this.#parts;
    if (link.lastState !== 'crashed') return;
    const isQuiet = this.#quiet;
    this.#overwhelmed = false;
    this.#told = false;
    this.#quiet = false;
    this.#last = undefined;
    link.send({ type: 'integration.restarted' });
    if (!isQuiet) records.restarted(clock.now() - this.#since);
  }

  /** There is more work that will not end than may be replaced. */
  overwhelm(): void {
    const { name, policy, link } = this.#parts;
    if (link.lastState === 'crashed') return;
    this.#overwhelmed = true;
    this.begin(refusal.tooMuchAbandoned(name, policy));
  }

  /** What is left of such work may be replaced, or is forgiven. */
  withinBound(): void {
    if (this.#overwhelmed) this.end();
  }
}
