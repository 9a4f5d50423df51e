import type { Beginning, Learnt, OpenCircuit } from '../calls/callPathOptions.ts';
import type { FailureStreak } from '../calls/circuit/breakerCounts.ts';
import { claimProbe, newLeaseOwner } from './leaseOwner.ts';
import type { IntegrationEmitted } from '../machines/integrationEvents.ts';
import type { Timer } from '../policy/clock.ts';
import type { BreakerCause } from '../policy/records/breakerCause.ts';
import { neverOpened, type PersistedBreaker } from '../policy/records/persistedBreaker.ts';
import type { BreakerStates } from '../store/breakers.ts';
import type { Runtime } from './runtime.ts';

/**
 * Place where failures in a row are counted. `own`: in this process, for long-lived runtimes. The store keeps the count, so that a restart goes on with it.
 * `shared`: in the store, for short-lived processes that follow each other; all that run at once count together.
 */
export type StreakKeeper = 'own' | 'shared';

/** Breaker of an integration as it is kept, and what its call path needs for that. */
export type KeptBreaker = ReturnType<typeof keepBreaker>;

/** Most often that an own count is written, in ms: every other answer may be a failure, a thousand times a second. */
const saveEveryMs = 1000;

/** The end of a pause is kept anew when it is later by so much, in ms. */
const leastNewsMs = 250;

/** Keeps the breaker of an integration in the runtime's store. Works without one, for this process alone. Nothing here throws. */
export function keepBreaker(
  { clock, store, redactAnswer }: Pick<Runtime, 'clock' | 'store' | 'redactAnswer'>,
  name: string,
  keeper: StreakKeeper,
) {
  let row: PersistedBreaker | undefined;
  /** The store was not there when it changed. */
  let unsaved = false;
  let uncounted = 0;
  let failures = 0;
  let begun = false;
  /** The name on its leases, once there was one. */
  let owner: string | undefined;
  let claimed = false;
  let savedAt = Number.NEGATIVE_INFINITY;
  let saving: Timer | undefined;
  /** Until when this run opened the circuit, in its own time, which no step of the wall clock moves. */
  let openUntil: number | undefined;

  /** End of the latest pause that is known here, in wall time. */
  let pauseEnd = 0;

  const generation = (): number => row?.generation ?? 0;
  const load = (): void => {
    row ??= store()?.breakers.load(name);
  };

  /** Callers are told why it opened as it is; what is kept is for others, too. */
  function saveRow(breakers: BreakerStates, changed: PersistedBreaker): void {
    breakers.save(name, changed.cause === undefined ? changed : { ...changed, cause: redactAnswer(changed.cause) });
  }

  function save(): void {
    saving = undefined;
    savedAt = clock.now();
    store()?.breakers.saveFailures(name, generation(), failures);
  }

  function saveSoon(): void {
    if (saving !== undefined) return;
    const waitMs = savedAt + saveEveryMs - clock.now();
    if (waitMs <= 0) save();
    else saving = clock.setTimeout(save, waitMs, { ref: false });
  }

  function countShared(): number {
    load();
    const counted = store()?.breakers.countFailure(name, generation());
    if (store() === undefined) uncounted++;
    // Another process has opened or closed the circuit since: what comes next counts from there.
    if (counted === 0) row = store()?.breakers.load(name) ?? row;
    failures = counted ?? failures + 1;
    return failures;
  }

  function releaseProbe(): void {
    if (claimed && owner !== undefined) store()?.breakers.releaseProbe(name, owner);
    claimed = false;
  }

  const streak: FailureStreak = {
    begin() {
      load();
      if (!begun) failures = row?.failures ?? 0;
      begun = true;
    },
    failed() {
      if (keeper === 'shared') return countShared();
      failures++;
      saveSoon();
      return failures;
    },
    end() {
      if (failures === 0) return;
      failures = 0;
      uncounted = 0;
      if (keeper === 'shared') save();
      else saveSoon();
    },
  };

  /** Gives what is left of a time that was kept, from now; the wall clock may have stepped since: it is never more than the whole. */
  const left = (until: number, wholeMs: number): number =>
    Math.min(Math.max(0, until - clock.wallNow()), Math.max(0, wholeMs));

  const open = (known: PersistedBreaker): OpenCircuit => {
    openUntil ??= clock.now() + left(known.openUntil, known.lastOpenMs);
    return { openUntil, openings: known.openings, cause: known.cause };
  };

  /** @returns until when, where that is news. */
  const laterPause = ({ pausedUntil = 0, pausedAt = 0 }: PersistedBreaker): number | undefined => {
    if (pausedUntil <= pauseEnd) return undefined;
    pauseEnd = pausedUntil;
    const leftMs = left(pausedUntil, pausedUntil - pausedAt);
    return leftMs === 0 ? undefined : clock.now() + leftMs;
  };

  return {
    streak,
    /** @param openings - in a row, as the machine has counted them. @param cause - why it opened. */
    changed(event: IntegrationEmitted, openings: number, cause?: BreakerCause): void {
      if (event.type === 'breaker.half_opened' || (event.type === 'breaker.opened' && event.kind === 'isolated'))
        return;
      load();
      const wallNow = clock.wallNow();
      const next = { ...neverOpened, openedAt: row?.openedAt ?? 0, generation: generation() + 1 };
      openUntil = event.type === 'breaker.closed' ? undefined : clock.now() + event.openForMs;
      row =
        event.type === 'breaker.closed'
          ? next
          : {
              ...next,
              state: 'open',
              openedAt: wallNow,
              openUntil: wallNow + event.openForMs,
              lastOpenMs: event.openForMs,
              openings,
              failures,
              cause,
            };
      unsaved = store() === undefined;
      uncounted = 0;
      const breakers = store()?.breakers;
      if (breakers !== undefined) saveRow(breakers, row);
    },
    claimProbe(leaseMs: number): boolean {
      const opened = store();
      load();
      // A store that cannot answer must not keep the circuit open for ever: then this process decides alone.
      if (opened === undefined || row === undefined || opened.degraded) return true;
      const { generation: known } = row;
      owner ??= newLeaseOwner();
      const claim = { name, generation: known, leaseMs, wallNow: clock.wallNow(), owner };
      const given = claimProbe(opened.breakers, claim);
      claimed ||= given;
      return given;
    },
    /** Gives the lease of a probe back, if it has one. */
    releaseProbe,
    /** An open circuit of an earlier run, or of an earlier incarnation of the machine, which knows nothing of it. */
    restored(): Beginning['open'] {
      load();
      return row?.state === 'open' ? open(row) : undefined;
    },
    /** The server asked not to be called. */
    paused(pauseMs: number): void {
      const wallNow = clock.wallNow();
      // A flood of answers moves the end a little each time; others need not hear of each.
      if (wallNow + pauseMs < pauseEnd + leastNewsMs) return;
      pauseEnd = Math.round(wallNow + pauseMs);
      store()?.breakers.pause(name, wallNow, pauseEnd);
    },
    /** Until when it asked an earlier run not to be called, in monotonic ms; undefined when that is over. */
    pausedUntil(): number | undefined {
      load();
      return row === undefined ? undefined : laterPause(row);
    },
    /** Takes what is kept now. @returns what another process has changed of it, in this process's time. */
    heard(kept: PersistedBreaker): Learnt {
      const pausedUntil = laterPause(kept);
      if (kept.generation <= generation()) return { pausedUntil };
      const wasOpen = row?.state === 'open';
      row = kept;
      openUntil = undefined;
      if (kept.state === 'open') return { pausedUntil, circuit: open(kept) };
      return { pausedUntil, circuit: wasOpen ? 'closed' : undefined };
    },
    /** Writes what is not written yet, and gives the lease of a probe back. */
    stop(): void {
      if (saving !== undefined) {
        clock.clearTimeout(saving);
        save();
      }
      const breakers = store()?.breakers;
      if (breakers === undefined) return;
      if (unsaved && row !== undefined) saveRow(breakers, row);
      for (; uncounted > 0; uncounted--) breakers.countFailure(name, generation());
      releaseProbe();
      unsaved = false;
    },
  };
}
