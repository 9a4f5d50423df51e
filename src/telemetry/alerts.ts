import type { AlertEnd, AlertRecords, OpenAlert } from '../policy/alertRecord.ts';
import {
  type AlertRule,
  type AlertRuleOf,
  countsForAlerts,
  defaultAlertRule,
  raises,
  withFailure,
} from '../policy/alerts.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { FactOf } from '../policy/facts.ts';
import type { FailureKind } from '../policy/failure.ts';
import type { Bus } from './bus.ts';

export interface AlertWatchParts {
  readonly clock: Clock;
  /** Hears of failures, and is told of alerts. */
  readonly bus: Pick<Bus, 'on' | 'tell'>;
  readonly ruleOf: AlertRuleOf;
  /** A name that no other alert has. */
  readonly newId: () => string;
}

/** A final failure that was on record before the watch began. `at` is wall time in ms since the epoch. */
export interface EarlierFailure {
  readonly integration: string;
  readonly kind: FailureKind;
  readonly at: number;
}

/** Watches final failures, and raises one alert for each episode of an integration. */
export interface AlertWatch {
  /** Begins, with what an earlier run left: its open alerts, and failures. Without records, this runtime decides alone. */
  start(records: AlertRecords | undefined, earlier: readonly EarlierFailure[]): void;
  stop(): void;
}

/** An alert of ours that is open. Times are monotonic. */
interface Episode {
  id: string;
  failures: number;
  readonly raisedAt: number;
  lastFailureAt: number;
  /** Settled once it is known whose it is. */
  raised: Promise<void>;
  /** Whether the alert is on record; one that the store did not take is ours alone. */
  recorded: boolean;
}

interface Watched {
  /** Of the failures that count, while no alert is open. */
  times: readonly number[];
  episode?: Episode | undefined;
  timer?: Timer | undefined;
}

export function createAlertWatch({ clock, bus, ruleOf, newId }: AlertWatchParts): AlertWatch {
  const watched = new Map<string, Watched>();
  let records: AlertRecords | undefined;
  let stopped = false;
  let removers: readonly (() => void)[] = [];

  function watch(integration: string): Watched {
    const known = watched.get(integration) ?? { times: [] };
    watched.set(integration, known);
    return known;
  }

  function failed(fact: FactOf<'call.failed'>): void {
    const { integration, failure } = fact;
    const rule = ruleOf(integration);
    if (rule === undefined || !countsForAlerts(failure.kind)) return;
    const now = clock.now();
    const found = watch(integration);
    const { episode } = found;
    if (episode !== undefined) {
      episode.failures++;
      episode.lastFailureAt = now;
      void records?.extend(integration, clock.wallNow()).then((isOpen) => {
        if (isOpen === false && episode.recorded && !stopped) goOn(fact, found, episode);
      });
      return;
    }
    found.times = withFailure(found.times, now, rule);
    if (raises(found.times, rule)) raise(integration, found, rule, failure);
  }

  /** Another runtime has given the all-clear, and we still meet failures: they are those of the next episode. */
  function goOn(fact: FactOf<'call.failed'>, found: Watched, over: Episode): void {
    if (found.episode === over) found.episode = undefined;
    failed(fact);
  }

  function raise(
    integration: string,
    found: Watched,
    rule: AlertRule,
    failure: Pick<OpenAlert, 'kind' | 'message'>,
  ): void {
    const now = clock.now();
    const wallNow = clock.wallNow();
    const failures = found.times.length;
    const { kind, message } = failure;
    const alert: OpenAlert = {
      id: newId(),
      integration,
      kind,
      message,
      failures,
      raisedAt: wallNow,
      lastFailureAt: wallNow,
    };
    const episode: Episode = {
      id: alert.id,
      failures,
      raisedAt: now,
      lastFailureAt: now,
      raised: Promise.resolve(),
      recorded: false,
    };
    found.times = [];
    found.episode = episode;
    clearWhenQuiet(integration, found, rule.quietMs);
    const tell = (): void =>
      bus.tell({
        type: 'alert.raised',
        alert: alert.id,
        integration,
        failures,
        windowMs: rule.windowMs,
        kind,
        message,
      });
    if (records === undefined) tell();
    else episode.raised = records.raise(alert).then((open) => settle(open, tell));

    /** Another runtime may have been faster; then it has told of it, and these failures are more of the same. */
    function settle(open: OpenAlert | undefined, tellIt: () => void): void {
      episode.recorded = open !== undefined;
      if (open === undefined || open.id === alert.id) {
        tellIt();
        return;
      }
      episode.id = open.id;
      void records?.extend(integration, wallNow);
    }
  }

  /** One timer for an episode, set anew when it comes up: failures come in floods. */
  function clearWhenQuiet(integration: string, found: Watched, quietMs: number): void {
    clock.clearTimeout(found.timer);
    const { episode } = found;
    if (episode === undefined || stopped) return;
    const leftMs = episode.lastFailureAt + quietMs - clock.now();
    const due = (): void => {
      const isQuiet = found.episode !== undefined && clock.now() - found.episode.lastFailureAt >= quietMs;
      if (isQuiet) void clear(integration, found, 'quiet', quietMs);
      else clearWhenQuiet(integration, found, quietMs);
    };
    found.timer = clock.setTimeout(due, Math.max(0, leftMs), { ref: false });
  }

  /** Never rejects: neither records nor the bus do. */
  async function clear(integration: string, found: Watched, by: AlertEnd, quietMs: number): Promise<void> {
    const { episode } = found;
    found.times = [];
    if (episode === undefined) return;
    found.episode = undefined;
    clock.clearTimeout(found.timer);
    await episode.raised;
    const wallNow = clock.wallNow();
    const quietSince = by === 'quiet' ? wallNow - quietMs : Number.POSITIVE_INFINITY;
    const cleared = await records?.clear(episode.id, by, wallNow, quietSince);
    // One that is not on record was told by us, and nobody else clears it.
    if (stopped || (cleared?.is === 'gone' && episode.recorded)) return;
    if (cleared?.is === 'failing') {
      if (found.episode !== undefined) return;
      found.episode = { ...episode, lastFailureAt: monotonic(cleared.lastFailureAt) };
      clearWhenQuiet(integration, found, quietMs);
      return;
    }
    const failures = cleared?.is === 'cleared' ? cleared.failures : episode.failures;
    const afterMs = clock.now() - episode.raisedAt;
    bus.tell({ type: 'alert.cleared', alert: episode.id, integration, by, failures, afterMs });
  }

  /** Wall time on our own clock; the future is a wall clock that has stepped back. */
  function monotonic(at: number): number {
    return clock.now() - Math.max(0, clock.wallNow() - at);
  }

  return {
    start(given, earlier) {
      if (stopped) return;
      records = given;
      for (const { id, integration, failures, raisedAt, lastFailureAt } of records?.open() ?? []) {
        const found = watch(integration);
        found.episode = {
          id,
          failures,
          raisedAt: monotonic(raisedAt),
          lastFailureAt: monotonic(lastFailureAt),
          raised: Promise.resolve(),
          recorded: true,
        };
        clearWhenQuiet(integration, found, (ruleOf(integration) ?? defaultAlertRule).quietMs);
      }
      for (const { integration, kind, at } of earlier) {
        const rule = ruleOf(integration);
        const found = watch(integration);
        if (rule === undefined || found.episode !== undefined || !countsForAlerts(kind)) continue;
        // What is on record raises nothing by itself: it takes one more.
        found.times = withFailure(found.times, monotonic(at), rule);
      }
      removers = [
        bus.on('call.failed', failed),
        bus.on('breaker.closed', ({ integration }) => {
          const found = watched.get(integration);
          if (found !== undefined) void clear(integration, found, 'closed', 0);
        }),
      ];
    },
    stop() {
      stopped = true;
      for (const remove of removers) remove();
      for (const { timer } of watched.values()) clock.clearTimeout(timer);
    },
  };
}
