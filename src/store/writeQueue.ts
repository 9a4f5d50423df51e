import type { Clock, Timer } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import { type Logger, say } from '../policy/logger.ts';
import { type Carried, type Carrier, carryAll } from './carriers.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { diagnose, type Trouble } from './trouble.ts';

/** Most rows that wait in memory; one more is refused. */
const maxQueued = 10_000;
/** Rows of one commit, and of one turn of the event loop while catching up. */
const batchRows = 500;
/** How long a lock of somebody else is waited for before the store counts as degraded, in ms. */
const lockPatienceMs = 5_000;
/** First wait for a lock, in ms; doubles to a tenth of the patience. */
const lockRetryMs = 50;
/** How often a degraded store is tried again, in ms. */
const retryMs = 1_000;

/** One write. */
export interface Write {
  /** Whether the handler of a message begins after its commit; a commit has at most one of these. */
  readonly begins?: boolean | undefined;
  /** Whether what is written after it tells of it: both are in one commit. */
  readonly toldNext?: boolean | undefined;
  /** Whether somebody is owed what becomes of it: while it waits for a lock the process must not end. */
  readonly awaited?: boolean | undefined;
  /** Runs inside a transaction, and again if that fails. @param transaction - another object for each. */
  run(database: Database, schema: Schema, transaction: object): void;
  /** Called once, after the commit. */
  committed?(): void;
  /** Called at most once, when the commit has to wait for the store to recover, or will not come at all. */
  postponed?(): void;
}

/** Writes on their way to the database: bounded, in order, those of one event-loop turn in one commit. Nothing here throws. */
export interface WriteQueue {
  /** Rows are where they were asked to go, or soon will be. */
  readonly degraded: boolean;
  /** Whether one more is refused now; counts it as dropped. Ask before building it. */
  refuses(): boolean;
  add(write: Write): void;
  carries(carrier: Carrier): void;
  /** Makes the first contact; resolves when it succeeded or the store is degraded. */
  start(): Promise<void>;
  /** Whether everything added before is committed: true once it is, false as soon as the store is degraded. */
  flush(): Promise<boolean>;
  /** Reports a failure that reading met. */
  report(error: unknown): void;
  /** Flushes, then stops. */
  close(): Promise<void>;
}

export interface WriteQueueOptions {
  readonly connection: Connection;
  readonly path: string;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly logger: Logger | undefined;
}

interface Episode {
  readonly since: number;
  written: number;
  dropped: number;
  /** What a new file was given, and what only the earlier one has; absent while the file is the same. */
  replaced?: { readonly carried: number; readonly left: number } | undefined;
}

interface Waiter {
  readonly target: number;
  readonly resolve: (committed: boolean) => void;
}

export function createWriteQueue({ connection, path, clock, facts, logger }: WriteQueueOptions): WriteQueue {
  const queue: Write[] = [];
  const carriers: Carrier[] = [];
  let generation = 0;
  let waiters: Waiter[] = [];
  let added = 0;
  let committed = 0;
  let state: 'open' | 'closing' | 'closed' = 'open';
  let episode: Episode | undefined;
  let busySince: number | undefined;
  let busyTries = 0;
  let planned = false;
  let timer: Timer | undefined;
  let timerHoldsProcess = false;
  let saidRefusedRow = false;
  let closing: Promise<void> | undefined;

  function refuses(): boolean {
    if (state !== 'open') return true;
    if (queue.length < maxQueued) return false;
    if (episode === undefined) degrade({ reason: `${path}: ${maxQueued} rows wait for a lock`, fix: 'end its holder' });
    if (episode !== undefined) episode.dropped++;
    return true;
  }

  function add(write: Write): void {
    if (state !== 'open') {
      write.postponed?.();
      return;
    }
    queue.push(write);
    added++;
    if (episode !== undefined) write.postponed?.();
    if (episode === undefined && write.awaited === true) hold();
    if (episode !== undefined || busySince !== undefined) return;
    plan();
    // A turn that writes this much pays for it now rather than filling the queue of a healthy store.
    if (queue.length >= maxQueued / 2) attempt();
  }

  function plan(): void {
    if (planned) return;
    planned = true;
    clock.nextTurn(() => {
      planned = false;
      if (timer === undefined) attempt();
    });
  }

  function attempt(): void {
    clock.clearTimeout(timer);
    timer = undefined;
    if (state === 'closed') return;
    const batch = nextBatch();
    let given: Carried | undefined;
    try {
      connection.use((database, schema) => {
        // The first contact takes no lock: an up-to-date database can be opened while another process writes.
        const isNew = connection.generation !== generation;
        if (batch.length === 0 && episode === undefined && !isNew) return;
        const transaction = {};
        database.immediate(() => {
          if (isNew) given = carryAll(carriers, database, transaction);
          for (const write of batch) run(write, database, schema, transaction);
        });
      });
    } catch (error) {
      failed(diagnose(error, path));
      return;
    }
    if (given !== undefined) replaced(given);
    succeeded(batch);
  }

  function replaced({ carried, lost }: Carried): void {
    generation = connection.generation;
    episode ??= { since: clock.now(), written: 0, dropped: 0 };
    episode.dropped += lost;
    episode.replaced = { carried: carried + (episode.replaced?.carried ?? 0), left: committed - episode.written };
  }

  /**
   * A handler may end the process at once. Its delivery is counted by then, and no other one is whose handler has not begun. While the store
   * is catching up nobody waits for the commit.
   */
  function nextBatch(): readonly Write[] {
    const batch: Write[] = [];
    let begun = false;
    for (const write of queue) {
      if (batch.length >= batchRows && batch.at(-1)?.toldNext !== true) break;
      if (write.begins === true && episode === undefined) {
        if (begun) break;
        begun = true;
      }
      batch.push(write);
    }
    return batch;
  }

  // A foreign database may have constraints of its own; a row it refuses would be refused for ever and hold up the rest.
  function run(write: Write, database: Database, schema: Schema, transaction: object): void {
    try {
      write.run(database, schema, transaction);
    } catch (error) {
      const trouble = diagnose(error, path);
      if (!trouble.refusedRow) throw error;
      if (!saidRefusedRow) say(logger, 'error', `The store refuses a row. ${trouble.reason}`);
      saidRefusedRow = true;
    }
  }

  function succeeded(batch: readonly Write[]): void {
    busySince = undefined;
    busyTries = 0;
    queue.splice(0, batch.length);
    committed += batch.length;
    if (episode !== undefined) episode.written += batch.length;
    for (const write of batch) write.committed?.();
    settle((waiter) => waiter.target <= committed, true);
    if (queue.length > 0) plan();
    else if (episode !== undefined) recover(episode);
  }

  function failed(trouble: Trouble): void {
    busySince ??= clock.now();
    const patient = trouble.busy && episode === undefined && clock.now() - busySince < lockPatienceMs;
    if (!patient && episode === undefined) degrade(trouble);
    retryIn(patient ? Math.min(lockRetryMs * 2 ** busyTries++, lockPatienceMs / 10) : retryMs);
  }

  function retryIn(delayMs: number): void {
    if (state === 'closed') return;
    clock.clearTimeout(timer);
    timerHoldsProcess = waiters.length > 0 || (episode === undefined && queue.some(({ awaited }) => awaited === true));
    timer = clock.setTimeout(attempt, delayMs, { ref: timerHoldsProcess });
  }

  function degrade({ reason, fix }: Pick<Trouble, 'reason' | 'fix'>): void {
    episode = { since: clock.now(), written: 0, dropped: 0 };
    say(logger, 'warn', `The store is degraded, events wait in memory. ${reason}. Fix: ${fix}.`);
    facts.tell({ type: 'store.degraded', reason, fix });
    settle(() => true, false);
    for (const write of queue) write.postponed?.();
  }

  function recover({ since, written, dropped, replaced }: Episode): void {
    episode = undefined;
    const more =
      replaced === undefined
        ? ''
        : ` A new file was given ${replaced.carried} messages and calls; ${replaced.left} earlier writes are not in it.`;
    say(logger, 'info', `The store has recovered: ${written} events written late, ${dropped} dropped.${more}`);
    facts.tell({ type: 'store.recovered', queued: written, dropped, downMs: clock.now() - since, ...replaced });
  }

  function settle(which: (waiter: Waiter) => boolean, result: boolean): void {
    const settled = waiters.filter(which);
    waiters = waiters.filter((waiter) => !settled.includes(waiter));
    for (const waiter of settled) waiter.resolve(result);
  }

  function flush(): Promise<boolean> {
    const target = added;
    if (committed < target && episode === undefined && busySince === undefined) attempt();
    if (committed >= target) return Promise.resolve(true);
    if (episode !== undefined || state === 'closed') return Promise.resolve(false);
    return waitFor(target);
  }

  function waitFor(target: number): Promise<boolean> {
    return new Promise((resolve) => {
      waiters.push({ target, resolve });
      hold();
    });
  }

  /** Somebody waits now: the process must not end before the lock does. */
  function hold(): void {
    if (timer !== undefined && !timerHoldsProcess) retryIn(lockRetryMs);
  }

  return {
    get degraded() {
      return episode !== undefined;
    },
    refuses,
    add,
    carries: (carrier) => void carriers.push(carrier),
    flush,
    report: (error) => failed(diagnose(error, path)),
    async start() {
      attempt();
      if (busySince !== undefined && episode === undefined) await waitFor(committed);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    state = 'closing';
    // A new file may have to be given what is held, though nothing waits to be written.
    if (!(await flush()) || episode !== undefined) lastAttempts();
    state = 'closed';
    clock.clearTimeout(timer);
    settle(() => true, false);
    if (queue.length > 0) say(logger, 'error', `The store closed with ${queue.length} events unwritten.`);
    connection.close();
  }

  /** Everything at once, as long as it gets less. */
  function lastAttempts(): void {
    let before: number;
    do {
      before = queue.length;
      attempt();
    } while (queue.length > 0 && queue.length < before);
  }
}
