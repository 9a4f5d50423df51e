import type { AlertEnd } from '../policy/alertCause.ts';
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
import { type EarlierIncident, type Incident, onIncident } from './incident.ts';

export interface AlertWatchOptions {
  readonly clock: Clock;
  /** Hears of failures and crashes, and is told of alerts. */
  readonly bus: Pick<Bus, 'on' | 'tell'>;
  readonly ruleOf: AlertRuleOf;
  /** A name that no other alert has. */
  readonly newId: () => string;
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
  readonly integration: string;
  /** Of the failures that count, while no alert is open. */
  failures: readonly number[];
  /** Of the crashes that count, always: a server that keeps crashing closes its circuit with every restart. */
  crashes: readonly number[];
  episode: Episode | undefined;
  timer: Timer | undefined;
}

/** Watches final failures and crashes, and raises one alert for each episode of an integration. */
export class AlertWatch {
  readonly #clock: Clock;
  readonly #bus: AlertWatchOptions['bus'];
  readonly #ruleOf: AlertRuleOf;
  readonly #newId: () => string;
  readonly #watched = new Map<string, Watched>();
  #records: AlertRecords | undefined = undefined;
  #stopped = false;
  #unsubscribe: () => void = () => undefined;

  constructor({ clock, bus, ruleOf, newId }: AlertWatchOptions) {
    this.#clock = clock;
    this.#bus = bus;
    this.#ruleOf = ruleOf;
    this.#newId = newId;
  }

  /** Begins, with what an earlier run left: its open alerts, and failures. Without records, this runtime decides alone. */
  start(records: AlertRecords | undefined, open: readonly OpenAlert[], earlier: readonly EarlierIncident[]): void {
    if (this.#stopped) return;
    this.#records = records;
    for (const alert of open) this.#goOnWith(alert);
    for (const incident of earlier) this.#remember(incident);
    this.#unsubscribe = onIncident(
      this.#bus,
      (incident) => this.#met(incident),
      (integration) => this.#closed(integration),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    for (const { timer } of this.#watched.values()) this.#clock.clearTimeout(timer);
  }

  #goOnWith({ id, integration, failures, crashes, raisedAt, lastFailureAt }: OpenAlert): void {
    const found = this.#watch(integration);
    found.episode = {
      id,
      failures,
      crashes,
      raisedAt: this.#monotonic(raisedAt),
      lastAt: this.#monotonic(lastFailureAt),
      raised: Promise.resolve(),
      recorded: true,
    };
    this.#clearWhenQuiet(found, (this.#ruleOf(integration) ?? defaultAlertRule).quietMs);
  }

  #remember({ integration, kind, cause, at }: EarlierIncident): void {
    const rule = this.#ruleOf(integration);
    const found = this.#watch(integration);
    if (rule === undefined || !countsForAlerts(kind)) return;
    const { episode } = found;
    // What nobody watched is no quiet either.
    if (episode !== undefined) episode.lastAt = Math.max(episode.lastAt, this.#monotonic(at));
    if (cause === 'failures' && episode !== undefined) return;
    // What is on record raises nothing by itself: it takes one more.
    found[cause] = withOneMore(cause, found[cause], this.#monotonic(at), rule);
  }

  #watch(integration: string): Watched {
    const known = this.#watched.get(integration);
    if (known !== undefined) return known;
    const made: Watched = { integration, failures: [], crashes: [], episode: undefined, timer: undefined };
    this.#watched.set(integration, made);
    return made;
  }

  #met(incident: Incident): void {
    const { integration, cause, kind } = incident;
    const rule = this.#ruleOf(integration);
    if (rule === undefined || !countsForAlerts(kind)) return;
    const found = this.#watch(integration);
    if (cause === 'crashes' || found.episode === undefined) {
      found[cause] = withOneMore(cause, found[cause], this.#clock.now(), rule);
    }
    this.#judge(incident, found, rule);
  }

  #judge(incident: Incident, found: Watched, rule: AlertRule): void {
    const { integration, cause } = incident;
    const { episode } = found;
    if (episode === undefined) {
      if (raises(cause, found[cause], this.#clock.now(), rule)) this.#raise(incident, found, rule);
      return;
    }
    episode[cause]++;
    episode.lastAt = this.#clock.now();
    void this.#records?.extend(integration, cause, this.#clock.wallNow()).then((isOpen) => {
      if (isOpen === false && episode.recorded && !this.#stopped) this.#beginAnother(incident, found, episode, rule);
    });
  }

  /** Another runtime has given the all-clear, and we still meet failures: they are those of the next episode. */
  #beginAnother(incident: Incident, found: Watched, over: Episode, rule: AlertRule): void {
    if (found.episode === over) found.episode = undefined;
    if (incident.cause === 'failures') this.#met(incident);
    else this.#judge(incident, found, rule);
  }

  #raise({ cause, ...incident }: Incident, found: Watched, rule: AlertRule): void {
    const { integration, kind, message } = incident;
    const now = this.#clock.now();
    const wallNow = this.#clock.wallNow();
    const counts = {
      failures: recent(found.failures, now, rule).length,
      crashes: recent(found.crashes, now, rule).length,
    };
    const id = this.#newId();
    const alert: OpenAlert = { ...incident, ...counts, id, because: cause, raisedAt: wallNow, lastFailureAt: wallNow };
    const raised = Promise.resolve();
    const episode: Episode = { ...counts, id, raisedAt: now, lastAt: now, raised, recorded: false };
    found.failures = [];
    found.episode = episode;
    this.#clearWhenQuiet(found, rule.quietMs);
    const { windowMs } = rule;
    const about = { alert: id, integration, because: cause, ...counts, windowMs, kind, message };
    const fact: Fact = { type: 'alert.raised', ...about };
    if (this.#records === undefined) this.#bus.tell(fact);
    else episode.raised = this.#records.raise(alert, fact).then((open) => this.#raised(episode, alert, fact, open));
  }

  /** Another runtime may have been faster; then it has told of it, and these failures are more of the same. */
  #raised(episode: Episode, alert: OpenAlert, fact: Fact, open: OpenAlert | undefined): void {
    episode.recorded = open !== undefined;
    if (open === undefined || open.id === alert.id) {
      this.#bus.tell(fact, episode.recorded);
      return;
    }
    episode.id = open.id;
    void this.#records?.extend(alert.integration, alert.because, alert.lastFailureAt);
  }

  /** One timer for an episode, set anew when it comes up: failures come in floods. */
  #clearWhenQuiet(found: Watched, quietMs: number): void {
    const clock = this.#clock;
    clock.clearTimeout(found.timer);
    const { episode } = found;
    if (episode === undefined || this.#stopped) return;
    const leftMs = episode.lastAt + quietMs - clock.now();
    const due = (): void => {
      const isQuiet = found.episode !== undefined && clock.now() - found.episode.lastAt >= quietMs;
      if (isQuiet) void this.#clear(found, 'quiet', quietMs);
      else this.#clearWhenQuiet(found, quietMs);
    };
    found.timer = clock.setTimeout(due, Math.max(0, leftMs), { ref: false });
  }

  #closed(integration: string): void {
    const found = this.#watched.get(integration);
    if (found === undefined) return;
    const rule = this.#ruleOf(integration) ?? defaultAlertRule;
    // It closed because its server is back, as so often of late.
    if (raises('crashes', found.crashes, this.#clock.now(), rule)) return;
    void this.#clear(found, 'closed', 0);
  }

  /** Never rejects: neither records nor the bus do. */
  async #clear(found: Watched, by: AlertEnd, quietMs: number): Promise<void> {
    const clock = this.#clock;
    const { integration, episode } = found;
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
    const cleared = await this.#records?.clear(episode.id, by, wallNow, quietSince, factOf);
    // One that is not on record was told by us, and nobody else clears it.
    if (this.#stopped || (cleared?.is === 'gone' && episode.recorded)) return;
    if (cleared?.is === 'failing') {
      if (found.episode !== undefined) return;
      found.episode = { ...episode, lastAt: this.#monotonic(cleared.lastFailureAt) };
      this.#clearWhenQuiet(found, quietMs);
      return;
    }
    const isCleared = cleared?.is === 'cleared';
    this.#bus.tell(factOf(isCleared ? cleared : episode), isCleared);
  }

  /** Wall time on our own clock; the future is a wall clock that has stepped back. */
  #monotonic(at: number): number {
    return this.#clock.now() - Math.max(0, this.#clock.wallNow() - at);
  }
}
