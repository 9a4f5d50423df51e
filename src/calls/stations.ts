import { RecentFailures } from '../policy/breakerCause.ts';
import { RetryBudget } from '../policy/retryBudget.ts';
import type { FailureFacts, Outcome } from '../policy/failure.ts';
import { Aftermath } from './aftermath.ts';
import { Attempts } from './attempts.ts';
import { BreakerCounts } from './breakerCounts.ts';
import { Call, type CallKeeper } from './call.ts';
import type { CallPathParts } from './callPathParts.ts';
import { CallRecords } from './callRecords.ts';
import type { CallSettings } from './callSettings.ts';
import { Doubt } from './doubt.ts';
import { Draining } from './draining.ts';
import { Endings } from './endings.ts';
import { Gate } from './gate.ts';
import { MachineChanges } from './machineChanges.ts';
import { MachineLink } from './machineLink.ts';
import { Outage } from './outage.ts';
import { Overstays } from './overstays.ts';
import { Places } from './places.ts';
import { Probing } from './probing.ts';
import { Scopes } from './scopes.ts';
import { ToolCircuits } from './toolCircuits.ts';
import { Verdicts } from './verdicts.ts';
import { Waits } from './waits.ts';

/** Whose calls they are: it looks after each call, and can end it. */
export interface PathKeeper<I, O> extends CallKeeper<I, O> {
  end(call: Call<I, O>, facts: FailureFacts): void;
}

/**
 * All that a call may meet on its way. The stations send calls to one another, and so each is given all of them and asks only once a call
 * is there. Objects of classes and no closures between them: what V8 has learned of the calls of one integration holds for all others.
 */
export class Stations<I, O> {
  /** Nothing is begun any more. */
  stopped = false;
  readonly parts: CallPathParts<I, O>;
  readonly keeper: PathKeeper<I, O>;
  readonly budget: RetryBudget;
  readonly places: Places<Call<I, O>>;
  readonly records: CallRecords<I, O>;
  readonly counts: BreakerCounts;
  readonly failures = new RecentFailures();
  readonly link: MachineLink;
  readonly tools: ToolCircuits<I, O>;
  readonly verdicts: Verdicts<I, O>;
  readonly waits: Waits<I, O>;
  readonly endings: Endings<I, O>;
  readonly scopes: Scopes<I, O>;
  readonly doubt: Doubt<I, O>;
  readonly draining: Draining<I, O>;
  readonly probing: Probing<I, O>;
  readonly overstays: Overstays<I, O>;
  readonly attempts: Attempts<I, O>;
  readonly aftermath: Aftermath<I, O>;
  readonly outage: Outage<I, O>;
  readonly gate: Gate<I, O>;
  #lastCall = 0;

  constructor(parts: CallPathParts<I, O>, keeper: PathKeeper<I, O>) {
    this.parts = parts;
    this.keeper = keeper;
    this.budget = parts.retryBudget ?? new RetryBudget();
    this.places = new Places(parts.policy);
    this.records = new CallRecords(parts);
    this.counts = new BreakerCounts(parts.policy.breaker, parts.streak);
    this.link = new MachineLink(parts, this.counts, this, new MachineChanges(this));
    this.tools = new ToolCircuits(this);
    this.verdicts = new Verdicts(this);
    this.waits = new Waits(parts.deadlines, this.places, this.link);
    this.endings = new Endings(this);
    this.scopes = new Scopes(this);
    this.doubt = new Doubt(this);
    this.draining = new Draining(this);
    this.probing = new Probing(this);
    this.overstays = new Overstays(this);
    this.attempts = new Attempts(this);
    this.aftermath = new Aftermath(this);
    this.outage = new Outage(this);
    this.gate = new Gate(this);
  }

  /** Makes the row of a call. @param now - monotonic time in ms. @param settled - gets its one outcome. */
  makeCall(input: I, settings: CallSettings<I, O>, now: number, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    return new Call(this.keeper, ++this.#lastCall, input, settings, now, settled);
  }
}
