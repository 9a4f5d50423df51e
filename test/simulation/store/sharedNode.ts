import type { PersistedBreaker } from '../../../src/policy/records/persistedBreaker.ts';
import type { Cleared, OpenAlert } from '../../../src/policy/records/alertRecord.ts';
import type { RateGrant, RateOrder } from '../../../src/policy/rateLimit.ts';
import type { Chance } from '../chance.ts';
import type { NodeParts, SimulatedNode } from './runNodes.ts';
import { type Mutate, SimulatedProcess } from './simulatedProcess.ts';

/** Of the one bucket: nothing comes back to it while a simulation lasts. */
export const bucketLimit = 100;
const bucket = { requests: { limit: bucketLimit, perMs: 1e15 } };
const origin = { host: 'here', pid: 1, gateway: 'gateway' } as const;
const openMs = 3_000;
const probeMs = 1_000;

/** What a node has asked about alerts, and what it was told. */
export interface AlertAnswers {
  readonly raised: { readonly id: string; answer: OpenAlert | undefined }[];
  readonly cleared: { readonly id: string; answer: Cleared | undefined }[];
  /** Failures that were counted to an alert for sure, and those of which it is not known. */
  extended: number;
  mayHaveExtended: number;
}

/** A node that uses what nodes share: a counted breaker, one that opens and is probed, a bucket, alerts and events. */
export class SharedNode extends SimulatedProcess implements SimulatedNode {
  /** Failures of the breaker `counted`. */
  counted = 0;
  /** What it took from the bucket. */
  taken = 0;
  /** The highest generation of `circuit` that it saved. */
  generation = 0;
  readonly recorded: string[] = [];
  readonly alerts: AlertAnswers = { raised: [], cleared: [], extended: 0, mayHaveExtended: 0 };
  readonly messages = 0;
  readonly #chance: Chance;
  /** A gateway asks once at a time. */
  #clearing = false;
  #probing: number | undefined = undefined;
  #pending = 0;
  #isFlushed = false;

  constructor(name: string, { chance, ...parts }: NodeParts & { readonly mutate?: Mutate | undefined }) {
    super(name, { ...parts, chance });
    this.#chance = chance;
    void this.#ask(this.store.open(false));
  }

  /** All that it wrote is in the database, and nothing that it asked for is on its way. */
  get isDone(): boolean {
    return this.#isFlushed && this.#pending === 0;
  }

  get pending(): number {
    return this.isDead ? 0 : this.#pending;
  }

  act(): void {
    this.#chance.weighted<() => void>([
      [3, () => this.#count()],
      [4, () => this.#useCircuit()],
      [3, () => void this.draw(this.#chance.integer(1, 3))],
      [2, () => this.#record()],
      [1, () => this.#raise()],
      [2, () => this.#extend()],
      [1, () => this.#clear()],
    ])();
  }

  flush(): void {
    void this.store.flush();
  }

  drain(): void {
    // One that waits for its answer may have been asked before the others wrote.
    if (this.#pending === 0) void this.#ask(this.store.look());
    void this.store.flush().then((isFlushed) => (this.#isFlushed = isFlushed));
  }

  /** Takes from the bucket; what is asked for is there or not. */
  draw(cost: number): RateGrant {
    const order: RateOrder = { capacities: bucket, costs: { requests: cost }, spare: 0, patienceMs: 1 };
    const grant = this.store.rates.draw('bucket', order, this.clock.wallNow());
    if (grant.granted) this.taken += cost;
    return grant;
  }

  #count(): void {
    this.counted++;
    this.store.breakers.countFailure('counted', 0);
  }

  #useCircuit(): void {
    const { breakers } = this.store;
    const known = breakers.load('circuit');
    const generation = known?.generation ?? 0;
    const now = this.clock.wallNow();
    if (this.#probing !== undefined) {
      // The probe ends: of an older generation it changes nothing.
      if (this.#probing === generation) this.#save(this.#chance.happens(0.5) ? 'closed' : 'open', generation + 1);
      else breakers.releaseProbe('circuit', this.name);
      this.#probing = undefined;
      return;
    }
    if (known?.state === 'open') {
      const isDue = now >= known.openUntil || known.openUntil > now + known.lastOpenMs;
      if (isDue && breakers.claimProbe('circuit', generation, this.name, probeMs, now)) this.#probing = generation;
      return;
    }
    if (this.#chance.happens(0.3)) breakers.saveFailures('circuit', generation, 0);
    else if ((breakers.countFailure('circuit', generation) ?? 0) >= 3) this.#save('open', generation + 1);
  }

  #save(state: PersistedBreaker['state'], generation: number): void {
    const now = this.clock.wallNow();
    const until = state === 'open' ? now + openMs : now;
    this.generation = generation;
    this.store.breakers.save('circuit', {
      ...{ state, openedAt: now, openUntil: until, lastOpenMs: openMs, openings: 1, failures: 0, generation },
    });
  }

  #record(): void {
    const mark = `${this.name}/${this.recorded.length + 1}`;
    const at = this.clock.wallNow();
    const fact = { type: 'alert.undelivered', alert: mark, integration: 'i', to: 'command', error: mark, at } as const;
    if (this.store.record(fact)) this.recorded.push(mark);
  }

  #raise(): void {
    const { raised } = this.alerts;
    const at = this.clock.wallNow();
    const about = {
      integration: 'i',
      because: 'failures',
      failures: 1,
      crashes: 0,
      kind: 'timeout',
      message: '',
    } as const;
    const alert: OpenAlert = { ...about, id: `${this.name}/${raised.length + 1}`, raisedAt: at, lastFailureAt: at };
    const asked: (typeof raised)[number] = { id: alert.id, answer: undefined };
    raised.push(asked);
    const fact = { ...about, ...origin, type: 'alert.raised', alert: alert.id, windowMs: 1, quietMs: 1 } as const;
    void this.#ask(this.store.alerts.raise(alert, fact).then((answer) => this.isDead || (asked.answer = answer)));
  }

  #extend(): void {
    this.alerts.mayHaveExtended++;
    const extended = this.store.alerts.extend('i', 'failures', this.clock.wallNow(), {
      kind: 'unknown',
      message: 'failed',
    });
    void this.#ask(
      extended.then((isOpen) => {
        if (this.isDead || isOpen === undefined) return;
        this.alerts.mayHaveExtended--;
        if (isOpen) this.alerts.extended++;
      }),
    );
  }

  #clear(): void {
    const { raised, cleared } = this.alerts;
    const id = this.#chance.pick(raised.flatMap(({ answer }) => answer?.id ?? []));
    if (id === undefined || this.#clearing) return;
    this.#clearing = true;
    const asked: (typeof cleared)[number] = { id, answer: undefined };
    cleared.push(asked);
    const answer = this.store.alerts.clear(id, 'closed', this.clock.wallNow(), Infinity, (counts) => ({
      ...{ type: 'alert.cleared', alert: id, integration: 'i', by: 'closed', afterMs: 0, ...counts, ...origin },
    }));
    void this.#ask(
      answer.then((what) => {
        this.#clearing = false;
        if (!this.isDead) asked.answer = what;
      }),
    );
  }

  async #ask(work: Promise<unknown>): Promise<void> {
    this.#pending++;
    await work;
    this.#pending--;
  }
}
