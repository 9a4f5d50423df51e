import type { Timer } from '../policy/clock.ts';
import { say } from '../policy/text/logger.ts';
import { type Committer, FlushWaiters, nextBatch, type Write } from './committer.ts';
import { type Carried, Outage, type OutageParts, type Trouble } from './outage.ts';
import type { StoreOutage } from '../policy/records/storeOutage.ts';

/** Most rows that wait in memory; one more is refused. */
const maxQueued = 10_000;
/** Time that a lock of another process is waited for before the store counts as degraded, in ms. */
const lockPatienceMs = 5_000;
/** First wait for a lock, in ms; each is half as long again, up to a tenth of the patience. */
const lockRetryMs = 10;
/** Interval at which a degraded store is tried again, in ms. */
const retryMs = 1_000;

/**
 * Writes on their way to where they are kept: bounded, in order, those of one event-loop turn in one commit. Where a commit takes its time, what is
 * written meanwhile shares the next one. What cannot be committed waits for a lock up to 5 s, then for the store to recover. Nothing here throws.
 */
export class WriteQueue<W extends Write> {
  readonly #committer: Committer<W>;
  readonly #parts: OutageParts;
  readonly #path: string;
  readonly #queue: W[] = [];
  readonly #waiters = new FlushWaiters();
  #added = 0;
  #committed = 0;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #outage: Outage | undefined = undefined;
  #busySince: number | undefined = undefined;
  #busyTries = 0;
  #planned = false;
  /** The commit that is under way. */
  #flight: Promise<void> | undefined = undefined;
  /** A batch of which it is not known whether it was committed: it goes again as it was. */
  #unsettled: readonly W[] | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #timerHoldsProcess = false;
  #closing: Promise<void> | undefined = undefined;

  /** @param path - of the store, for people. */
  constructor(committer: Committer<W>, path: string, parts: OutageParts) {
    this.#committer = committer;
    this.#path = path;
    this.#parts = parts;
  }

  /** False: rows are where they were asked to go, or soon will be. */
  get degraded(): boolean {
    return this.#outage !== undefined;
  }

  /** Current trouble; undefined while there is none. */
  get outage(): StoreOutage | undefined {
    return this.#outage?.now(this.#queue.length);
  }

  /** True once it was closed: nothing is committed any more. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** Tells whether one more is refused now; counts it as dropped. Ask before building it. */
  refuses(): boolean {
    if (this.#state !== 'open') return true;
    if (this.#queue.length < maxQueued) return false;
    if (this.#outage === undefined) {
      this.#degrade({ reason: `${this.#path}: ${maxQueued} rows wait for a lock`, fix: 'end its holder' });
    }
    this.#outage?.dropped();
    return true;
  }

  write(write: W): void {
    if (this.#state !== 'open') {
      write.postponed?.();
      write.unwritten?.();
      return;
    }
    this.#queue.push(write);
    this.#added++;
    if (this.#outage !== undefined) write.postponed?.();
    else if (write.awaited === true && this.#timer !== undefined) this.#hold();
    if (this.#outage !== undefined || this.#busySince !== undefined) return;
    if (!this.#planned) this.#plan();
    // A turn that writes this much pays for it now rather than filling the queue of a healthy store.
    if (this.#queue.length >= maxQueued / 2) void this.#attempt();
  }

  /** Makes the first contact; resolves when it succeeded or the store is degraded. */
  async start(): Promise<void> {
    await this.#attempt();
    if (this.#busySince !== undefined && this.#outage === undefined) await this.#waitFor(this.#committed);
  }

  /** Tells whether everything added before is committed: true once it is, false as soon as the store is degraded. */
  flush(): Promise<boolean> {
    const target = this.#added;
    if (this.#committed < target && this.#outage === undefined && this.#busySince === undefined) void this.#attempt();
    if (this.#committed >= target) return Promise.resolve(true);
    if (this.#outage !== undefined || this.#state === 'closed') return Promise.resolve(false);
    return this.#waitFor(target);
  }

  /** Reports a failure that reading met. */
  report(error: unknown): void {
    this.#failed(this.#committer.diagnose(error));
  }

  /** Flushes, then stops. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Nothing can be committed any more: who waits is told so. */
  giveUp(reason: string): void {
    if (this.#state !== 'closed' && this.#outage === undefined)
      this.#degrade({ reason, fix: 'see that its server answers' });
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#parts.clock.nextTurn(() => {
      this.#planned = false;
      if (this.#timer === undefined) void this.#attempt();
    });
  }

  /** @returns the commit that is under way; undefined where it was made, or failed, at once. */
  #attempt(): Promise<void> | undefined {
    if (this.#flight !== undefined) return this.#flight;
    this.#parts.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#state === 'closed') return undefined;
    const batch = this.#unsettled ?? nextBatch(this.#queue, this.#outage !== undefined);
    try {
      const given = this.#committer.commit(batch, this.#outage !== undefined);
      if (!(given instanceof Promise)) {
        this.#succeeded(batch, given);
        return undefined;
      }
      this.#unsettled = batch;
      this.#flight = given.then(
        () => {
          this.#flight = this.#unsettled = undefined;
          this.#succeeded(batch, undefined);
        },
        (error: unknown) => {
          this.#flight = undefined;
          this.report(error);
        },
      );
    } catch (error) {
      this.report(error);
    }
    return this.#flight;
  }

  #succeeded(batch: readonly W[], given: Carried | undefined): void {
    if (given !== undefined) {
      this.#outage ??= new Outage(this.#parts);
      this.#outage.replaced(given, this.#committed);
    }
    this.#busySince = undefined;
    this.#busyTries = 0;
    this.#queue.splice(0, batch.length);
    this.#committed += batch.length;
    this.#outage?.wrote(batch.length);
    for (const write of batch) write.committed?.();
    this.#waiters.committed(this.#committed);
    if (this.#queue.length > 0) this.#plan();
    else if (this.#outage !== undefined) {
      const over = this.#outage;
      this.#outage = undefined;
      over.end();
    }
  }

  #failed(trouble: Trouble): void {
    const { clock } = this.#parts;
    this.#busySince ??= clock.now();
    const patient = trouble.busy && this.#outage === undefined && clock.now() - this.#busySince < lockPatienceMs;
    if (!patient && this.#outage === undefined) this.#degrade(trouble);
    this.#retryIn(patient ? Math.min(lockRetryMs * 1.5 ** this.#busyTries++, lockPatienceMs / 10) : retryMs);
  }

  #retryIn(delayMs: number): void {
    if (this.#state === 'closed') return;
    const { clock } = this.#parts;
    clock.clearTimeout(this.#timer);
    this.#timerHoldsProcess =
      this.#waiters.size > 0 || (this.#outage === undefined && this.#queue.some(({ awaited }) => awaited === true));
    const again = (): void => {
      this.#timer = undefined;
      void this.#attempt();
    };
    this.#timer = clock.setTimeout(again, delayMs, { ref: this.#timerHoldsProcess });
  }

  #degrade(trouble: Pick<Trouble, 'reason' | 'fix'>): void {
    this.#outage = new Outage(this.#parts);
    this.#outage.begin(trouble);
    this.#waiters.sendAway();
    for (const write of this.#queue) write.postponed?.();
  }

  #waitFor(target: number): Promise<boolean> {
    const waiting = this.#waiters.waitFor(target);
    this.#hold();
    return waiting;
  }

  /** A caller waits now: the process must not end before the lock does. */
  #hold(): void {
    if (this.#timer !== undefined && !this.#timerHoldsProcess) this.#retryIn(lockRetryMs);
  }

  async #close(): Promise<void> {
    this.#state = 'closing';
    // A new file may have to be given what is held, though nothing waits to be written.
    if (!(await this.flush()) || this.#outage !== undefined) await this.#lastAttempts();
    this.#state = 'closed';
    this.#parts.clock.clearTimeout(this.#timer);
    this.#waiters.sendAway();
    const { length } = this.#queue;
    for (const write of this.#queue) write.unwritten?.();
    if (length > 0) say(this.#parts.logger, 'error', `The store closed with ${length} events unwritten.`);
    await this.#committer.close();
  }

  /** Everything at once, as long as it gets less. */
  async #lastAttempts(): Promise<void> {
    let before: number;
    do {
      before = this.#queue.length;
      const commit = this.#attempt();
      if (commit !== undefined) await commit;
    } while (this.#queue.length > 0 && this.#queue.length < before);
  }
}
