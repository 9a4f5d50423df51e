import type { AlertCause, AlertEnd } from '../policy/alertCause.ts';
import type { AlertCounts, AlertRecords, OpenAlert } from '../policy/alertRecord.ts';
import {
  type AlertRule,
  type AlertRuleOf,
  countsForAlerts,
  defaultAlertRule,
  raises,
  recent,
  withOneMore,
} from '../policy/alerts.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { Fact } from '../policy/facts.ts';
import type { Bus } from '../telemetry/bus.ts';

export interface AlertWatchParts {
  readonly clock: Clock;
  /** Hears of failures and crashes, and is told of alerts. */
  readonly bus: Pick<Bus, 'on' | 'tell'>;
  readonly ruleOf: AlertRuleOf;
  /** A name that no other alert has. */
  readonly newId: () => string;
}

/** What counts towards an alert. */
interface Incident extends Pick<OpenAlert, 'integration' | 'kind' | 'message'> {
  readonly cause: AlertCause;
}

/** A final failure, or a crash, that was on record before the watch began. `at` is wall time in ms since the epoch. */
export interface EarlierIncident extends Pick<Incident, 'integration' | 'kind' | 'cause'> {
  readonly at: number;
}

/** Watches final failures and crashes, and raises one alert for each episode of an integration. */
export interface AlertWatch {
  /** Begins, with what an earlier run left: its open alerts, and failures. Without records, this runtime decides alone. */
  start(records: AlertRecords | undefined, open: readonly OpenAlert[], earlier: readonly EarlierIncident[]): void;
  stop(): void;
}

/** An alert of ours that is open. Times are monotonic. */
interface Episode {
  id: string;
  failures: number;
  crashes: number;
  readonly raisedAt: number;
  lastAt: number;
  /** Settled once it is known whose it is. */
  raised: Promise<void>;
  /** Whether the alert is on record; one that the store did not take is ours alone. */
  recorded: boolean;
}

interface Watched {
  /** Of the failures that count, while no alert is open. */
  failures: readonly number[];
  /** Of the crashes that count, always: a server that keeps crashing closes its circuit with every restart. */
  crashes: readonly number[];
  episode?: Episode | undefined;
  timer?: Timer | undefined;
}

export function createAlertWatch({ clock, bus, ruleOf, newId }: AlertWatchParts): AlertWatch {
  const watched = new Map<string, Watched>();
  let records: AlertRecords | undefined;
  let stopped = false;
  let removers: readonly (() => void)[] = [];

  function watch(integration: string): Watched {
    const known = watched.get(integration) ?? { failures: [], crashes: [] };
    watched.set(integration, known);
    return known;
  }

  function met(incident: Incident): void {
    const { integration, cause, kind } = incident;
    const rule = ruleOf(integration);
    if (rule === undefined || !countsForAlerts(kind)) return;
    const found = watch(integration);
    if (cause === 'crashes' || found.episode === undefined) {
      found[cause] = withOneMore(cause, found[cause], clock.now(), rule);
    }
    judge(incident, found, rule);
  }

  function judge(incident: Incident, found: Watched, rule: AlertRule): void {
    const { integration, cause } = incident;
    const { episode } = found;
    if (episode === undefined) {
      if (raises(cause, found[cause], clock.now(), rule)) raise(incident, found, rule);
      return;
    }
    episode[cause]++;
    episode.lastAt = clock.now();
    void records?.extend(integration, cause, clock.wallNow()).then((isOpen) => {
      if (isOpen === false && episode.recorded && !stopped) goOn(incident, found, episode, rule);
    });
  }

  /** Another runtime has given the all-clear, and we still meet failures: they are those of the next episode. */
  function goOn(incident: Incident, found: Watched, over: Episode, rule: AlertRule): void {
    if (found.episode === over) found.episode = undefined;
    if (incident.cause === 'failures') met(incident);
    else judge(incident, found, rule);
  }

  function raise({ cause, ...incident }: Incident, found: Watched, rule: AlertRule): void {
    const { integration, kind, message } = incident;
    const now = clock.now();
    const wallNow = clock.wallNow();
    const counts = {
      failures: recent(found.failures, now, rule).length,
      crashes: recent(found.crashes, now, rule).length,
    };
    const id = newId();
    const alert: OpenAlert = { ...incident, ...counts, id, because: cause, raisedAt: wallNow, lastFailureAt: wallNow };
    const episode: Episode = {
      ...counts,
      id,
      raisedAt: now,
      lastAt: now,
      raised: Promise.resolve(),
      recorded: false,
    };
    found.failures = [];
    found.episode = episode;
    clearWhenQuiet(integration, found, rule.quietMs);
    const { windowMs } = rule;
    const about = { alert: id, integration, because: cause, ...counts, windowMs, kind, message };
    const fact: Fact = { type: 'alert.raised', ...about };
    if (records === undefined) bus.tell(fact);
    else episode.raised = records.raise(alert, fact).then(settle);

    /** Another runtime may have been faster; then it has told of it, and these failures are more of the same. */
    function settle(open: OpenAlert | undefined): void {
      episode.recorded = open !== undefined;
      if (open === undefined || open.id === alert.id) {
        bus.tell(fact, episode.recorded);
        return;
      }
      episode.id = open.id;
      void records?.extend(integration, cause, wallNow);
    }
  }

  /** One timer for an episode, set anew when it comes up: failures come in floods. */
  function clearWhenQuiet(integration: string, found: Watched, quietMs: number): void {
    clock.clearTimeout(found.timer);
    const { episode } = found;
    if (episode === undefined || stopped) return;
    const leftMs = episode.lastAt + quietMs - clock.now();
    const due = (): void => {
      const isQuiet = found.episode !== undefined && clock.now() - found.episode.lastAt >= quietMs;
      if (isQuiet) void clear(integration, found, 'quiet', quietMs);
      else clearWhenQuiet(integration, found, quietMs);
    };
    found.timer = clock.setTimeout(due, Math.max(0, leftMs), { ref: false });
  }

  function closed(integration: string): void {
    const found = watched.get(integration);
    if (found === undefined) return;
    const rule = ruleOf(integration) ?? defaultAlertRule;
    // It closed because its server is back, as so often of late.
    if (raises('crashes', found.crashes, clock.now(), rule)) return;
    void clear(integration, found, 'closed', 0);
  }

  /** Never rejects: neither records nor the bus do. */
  async function clear(integration: string, found: Watched, by: AlertEnd, quietMs: number): Promise<void> {
    const { episode } = found;
    found.failures = [];
    if (by === 'quiet') found.crashes = [];
    if (episode === undefined) return;
    found.episode = undefined;
    clock.clearTimeout(found.timer);
    await episode.raised;
    const wallNow = clock.wallNow();
    const quietSince = by === 'quiet' ? wallNow - quietMs : Number.POSITIVE_INFINITY;
    const factOf = ({ failures, crashes }: AlertCounts): Fact => {
      const afterMs = clock.now() - episode.raisedAt;
      return { type: 'alert.cleared', alert: episode.id, integration, by, failures, crashes, afterMs };
    };
    const cleared = await records?.clear(episode.id, by, wallNow, quietSince, factOf);
    // One that is not on record was told by us, and nobody else clears it.
    if (stopped || (cleared?.is === 'gone' && episode.recorded)) return;
    if (cleared?.is === 'failing') {
      if (found.episode !== undefined) return;
      found.episode = { ...episode, lastAt: monotonic(cleared.lastFailureAt) };
      clearWhenQuiet(integration, found, quietMs);
      return;
    }
    const isCleared = cleared?.is === 'cleared';
    bus.tell(factOf(isCleared ? cleared : episode), isCleared);
  }

  /** Wall time on our own clock; the future is a wall clock that has stepped back. */
  function monotonic(at: number): number {
    return clock.now() - Math.max(0, clock.wallNow() - at);
  }

  function crashed({ integration, message }: { readonly integration: string; readonly message: string }): void {
    met({ cause: 'crashes', integration, kind: 'crash', message });
  }

  return {
    start(given, open, earlier) {
      if (stopped) return;
      records = given;
      for (const { id, integration, failures, crashes, raisedAt, lastFailureAt } of open) {
        const found = watch(integration);
        found.episode = {
          id,
          failures,
          crashes,
          raisedAt: monotonic(raisedAt),
          lastAt: monotonic(lastFailureAt),
          raised: Promise.resolve(),
          recorded: true,
        };
        clearWhenQuiet(integration, found, (ruleOf(integration) ?? defaultAlertRule).quietMs);
      }
      for (const { integration, kind, cause, at } of earlier) {
        const rule = ruleOf(integration);
        const found = watch(integration);
        if (rule === undefined || !countsForAlerts(kind)) continue;
        // What nobody watched is no quiet either.
        if (found.episode !== undefined) found.episode.lastAt = Math.max(found.episode.lastAt, monotonic(at));
        if (cause === 'failures' && found.episode !== undefined) continue;
        // What is on record raises nothing by itself: it takes one more.
        found[cause] = withOneMore(cause, found[cause], monotonic(at), rule);
      }
      removers = [
        bus.on('call.failed', ({ integration, failure: { kind, message, alerts } }) => {
          // Its hook tells of it, and of what its call took for an answer. What our own stall may have caused is nobody's failure.
          if (alerts !== false && !integration.startsWith('hook:'))
            met({ cause: 'failures', integration, kind, message });
        }),
        bus.on('hook.failed', ({ hook, kind = 'unknown', error }) =>
          met({ cause: 'failures', integration: `hook:${hook}`, kind, message: error }),
        ),
        bus.on('integration.crashed', crashed),
        bus.on('integration.restart_failed', crashed),
        bus.on('breaker.closed', ({ integration, tool }) => {
          // That of one tool says nothing of the others.
          if (tool === undefined) closed(integration);
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
