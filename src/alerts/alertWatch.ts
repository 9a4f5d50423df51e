import type { AlertCause, AlertEnd } from '../policy/alertCause.ts';
import type { AlertCounts, AlertRecords, OpenAlert } from '../policy/alertRecord.ts';
import { nextOfAlert } from '../policy/alertText.ts';
import {
  type AlertRule,
  type AlertRuleOf,
  countsForAlerts,
  defaultAlertRule,
  raises,
  recent,
  withOneMore,
} from '../policy/alerts.ts';
import type { CallFiguresRow } from '../policy/callFigures.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { Fact } from '../policy/facts.ts';
import type { AlertOrigin } from '../policy/facts/alertFacts.ts';
import type { Bus } from '../telemetry/bus.ts';
import { type EarlierIncident, type Incident, onIncident } from './incident.ts';
import { type LowRate, RateWindow } from './rateWindow.ts';
import type { Refusing } from './refusing.ts';

/** What raises an alert. */
interface Reason extends Omit<Incident, 'cause'> {
  readonly cause: AlertCause;
}

export interface AlertWatchOptions {
  readonly clock: Clock;
  /** Hears of failures and crashes, and is told of alerts. */
  readonly bus: Pick<Bus, 'on' | 'tell'>;
  readonly ruleOf: AlertRuleOf;
  /** Where its alerts come from. */
  readonly origin: () => AlertOrigin;
  /** A name that no other alert has. */
  readonly newId: () => string;
  /** How far an integration refuses calls. @defaultValue none does */
  readonly refusing?: ((integration: string) => Refusing | undefined) | undefined;
  /** Tells how calls end, for alerts by rate. @defaultValue there are none */
  readonly statistics?: { onKept(hear: (rows: readonly CallFiguresRow[]) => void): () => void } | undefined;
}

/** An open alert as the runtime that watches it sees it. */
interface OpenWatched {
  readonly integration: string;
  /** How long it lasts once nothing fails any more, in ms. */
  readonly quietMs: number;
  /** What ends it, where calls are refused. */
  readonly once?: string | undefined;
  /** Whether too few of its calls succeed, which has to end first. @defaultValue false */
  readonly isLow?: boolean | undefined;
  /** Whether it is ours alone, as the store did not take it. @defaultValue false */
  readonly unrecorded?: boolean | undefined;
}

/** How often it is looked whether calls are still refused, in ms. */
const lookMs = 10_000;

/** An alert of ours that is open. Times are monotonic. */
interface Episode {
  id: string;
  readonly because: AlertCause;
  failures: number;
  crashes: number;
  readonly raisedAt: number;
  lastAt: number;
  /** Calls that the integration had refused when it was last looked. */
  refused: number;
  /** When it was last seen that calls were refused, which cannot fail. */
  refusedAt: number;
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
  /** How its calls ended, where its rule asks for a success rate. */
  rate: RateWindow | undefined;
  episode: Episode | undefined;
  timer: Timer | undefined;
}

/** Watches final failures and crashes, and raises one alert for each episode of an integration. */
export class AlertWatch {
  readonly #clock: Clock;
  readonly #bus: AlertWatchOptions['bus'];
  readonly #ruleOf: AlertRuleOf;
  readonly #origin: () => AlertOrigin;
  readonly #newId: () => string;
  readonly #refusing: (integration: string) => Refusing | undefined;
  readonly #watched = new Map<string, Watched>();
  #records: AlertRecords | undefined = undefined;
  readonly #statistics: AlertWatchOptions['statistics'];
  #stopped = false;
  /** Alerts that are being put on record, to be told of then. */
  #raising = 0;
  #settled: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;

  constructor({ clock, bus, ruleOf, origin, newId, statistics, refusing = () => undefined }: AlertWatchOptions) {
    this.#clock = clock;
    this.#bus = bus;
    this.#ruleOf = ruleOf;
    this.#origin = origin;
    this.#newId = newId;
    this.#refusing = refusing;
    this.#statistics = statistics;
  }

  /** Begins, with what an earlier run left: its open alerts, failures and figures of calls. Without records, this runtime decides alone. */
  start(
    records: AlertRecords | undefined,
    open: readonly OpenAlert[],
    earlier: readonly EarlierIncident[],
    figures: readonly CallFiguresRow[] = [],
  ): void {
    if (this.#stopped) return;
    this.#records = records;
    for (const row of figures) this.#count(row, this.#monotonic(row.minute));
    for (const alert of open) this.#goOnWith(alert);
    for (const incident of earlier) this.#remember(incident);
    const removers = [
      onIncident(
        this.#bus,
        (incident) => this.#met(incident),
        (integration) => this.#closed(integration),
      ),
      this.#statistics?.onKept((rows) => this.#counted(rows)),
    ];
    this.#unsubscribe = () => {
      for (const remove of removers) remove?.();
    };
  }

  /** The integrations with an open alert. */
  get open(): readonly OpenWatched[] {
    return [...this.#watched.values()]
      .filter(({ episode }) => episode !== undefined)
      .map((found) => {
        const { integration, episode } = found;
        const rule = this.#ruleOf(integration) ?? defaultAlertRule;
        const { quietMs } = rule;
        const isLow = this.#lowRate(found, rule) !== undefined;
        const once = this.#refusing(integration)?.because?.until;
        const unrecorded = this.#records !== undefined && episode?.recorded === false;
        return {
          integration,
          quietMs,
          ...(once !== undefined && { once }),
          ...(isLow && { isLow }),
          ...(unrecorded && { unrecorded }),
        };
      });
  }

  /** Whether it has still to tell of an alert, also after its stop. */
  get busy(): boolean {
    return this.#raising > 0;
  }

  /** @param settled - told whenever it has told of one. Must not throw. */
  drain(settled: () => void): void {
    this.#settled = settled;
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    for (const { timer } of this.#watched.values()) this.#clock.clearTimeout(timer);
  }

  #goOnWith({ id, integration, because, failures, crashes, raisedAt, lastFailureAt }: OpenAlert): void {
    const found = this.#watch(integration);
    found.episode = {
      id,
      because,
      failures,
      crashes,
      raisedAt: this.#monotonic(raisedAt),
      lastAt: this.#monotonic(lastFailureAt),
      ...this.#noneRefused(integration),
      raised: Promise.resolve(),
      recorded: true,
    };
    this.#clearWhenOver(found, this.#ruleOf(integration) ?? defaultAlertRule);
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
    const made: Watched = {
      integration,
      failures: [],
      crashes: [],
      rate: undefined,
      episode: undefined,
      timer: undefined,
    };
    this.#watched.set(integration, made);
    return made;
  }

  #counted(rows: readonly CallFiguresRow[]): void {
    for (const row of rows) {
      const rule = this.#count(row, this.#clock.now());
      if (rule !== undefined) this.#judgeRate(this.#watch(row.integration), rule);
    }
  }

  /** @returns the rule of the integration, where it asks for a success rate. */
  #count(row: CallFiguresRow, at: number): AlertRule | undefined {
    const rule = this.#ruleOf(row.integration);
    if (row.tool !== undefined || rule === undefined || rule.successBelow === 0) return undefined;
    const found = this.#watch(row.integration);
    found.rate ??= new RateWindow();
    found.rate.add(row, at, rule);
    return rule;
  }

  #judgeRate(found: Watched, rule: AlertRule): void {
    const { integration, episode } = found;
    if (episode === undefined) {
      const low = found.rate?.lowAt(this.#clock.now(), rule, rule.minCalls);
      if (low !== undefined) this.#raise({ ...low, cause: 'rate', integration }, found, rule, low);
    } else if (episode.because === 'rate' && this.#isOver(found, episode, rule))
      void this.#clear(found, 'recovered', rule);
  }

  /** An episode that a rate began goes on however few calls there are; another one is not prolonged by fewer than would have begun one. */
  #lowRate({ rate, episode }: Watched, rule: AlertRule): LowRate | undefined {
    return rate?.lowAt(this.#clock.now(), rule, episode?.because === 'rate' ? 1 : rule.minCalls);
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
    const { integration, cause, kind, message } = incident;
    const { episode } = found;
    if (episode === undefined) {
      if (raises(cause, found[cause], this.#clock.now(), rule)) this.#raise(incident, found, rule);
      return;
    }
    episode[cause]++;
    episode.lastAt = this.#clock.now();
    void this.#records?.extend(integration, cause, this.#clock.wallNow(), { kind, message }).then((isOpen) => {
      if (isOpen === false && episode.recorded && !this.#stopped) this.#beginAnother(incident, found, episode, rule);
    });
  }

  /** Another runtime has given the all-clear, and we still meet failures: they are those of the next episode. */
  #beginAnother(incident: Incident, found: Watched, over: Episode, rule: AlertRule): void {
    if (found.episode === over) found.episode = undefined;
    if (incident.cause === 'failures') this.#met(incident);
    else this.#judge(incident, found, rule);
  }

  #raise({ integration, cause, kind, message }: Reason, found: Watched, rule: AlertRule, low?: LowRate): void {
    const now = this.#clock.now();
    const wallNow = this.#clock.wallNow();
    const counts = {
      failures: low?.failures ?? recent(found.failures, now, rule).length,
      crashes: recent(found.crashes, now, rule).length,
    };
    const id = this.#newId();
    const about = { integration, because: cause, ...counts, kind, message };
    const alert: OpenAlert = { ...about, id, raisedAt: wallNow, lastFailureAt: wallNow };
    const raised = Promise.resolve();
    const times = { raisedAt: now, lastAt: now, ...this.#noneRefused(integration) };
    const episode: Episode = { ...counts, ...times, id, because: cause, raised, recorded: false };
    found.failures = [];
    found.episode = episode;
    this.#clearWhenOver(found, rule);
    const { windowMs, quietMs } = rule;
    const origin = this.#origin();
    const { database } = origin;
    const next = database === undefined ? {} : { next: nextOfAlert(integration, cause, database) };
    const fact: Fact = { type: 'alert.raised', alert: id, ...about, windowMs, quietMs, ...origin, ...next };
    if (this.#records === undefined) {
      this.#bus.tell(fact);
      return;
    }
    this.#raising++;
    episode.raised = this.#records.raise(alert, fact).then((open) => {
      this.#raising--;
      this.#raised(episode, alert, fact, open);
      this.#settled();
    });
  }

  /** Another runtime may have been faster; then it has told of it, and these failures are more of the same. */
  #raised(episode: Episode, alert: OpenAlert, fact: Fact, open: OpenAlert | undefined): void {
    episode.recorded = open !== undefined;
    if (open === undefined || open.id === alert.id) {
      this.#bus.tell(fact, episode.recorded);
      return;
    }
    episode.id = open.id;
    const { because, integration, lastFailureAt, kind, message } = alert;
    if (because !== 'rate') void this.#records?.extend(integration, because, lastFailureAt, { kind, message });
  }

  /** One timer for an episode, set anew when it comes up: failures come in floods. */
  #clearWhenOver(found: Watched, rule: AlertRule): void {
    const clock = this.#clock;
    clock.clearTimeout(found.timer);
    const { episode, rate } = found;
    if (episode === undefined || this.#stopped) return;
    const isByRate = episode.because === 'rate' && rate !== undefined;
    const isLow = this.#lowRate(found, rule) !== undefined;
    const quietAt = isByRate ? Number.NEGATIVE_INFINITY : episode.lastAt + rule.quietMs;
    const overAt = isLow ? Math.max(quietAt, rate?.failureFreeAt(rule) ?? quietAt) : quietAt;
    const due = (): void => {
      const isOver = found.episode !== undefined && this.#isOver(found, found.episode, rule);
      if (isOver) void this.#clear(found, isByRate ? 'recovered' : 'quiet', rule);
      else this.#clearWhenOver(found, rule);
    };
    const state = this.#refusing(found.integration);
    const soonestMs = state?.because === undefined ? 0 : lookMs;
    const latestMs = state === undefined ? Number.POSITIVE_INFINITY : lookMs;
    const overInMs = overAt - clock.now();
    found.timer = clock.setTimeout(due, Math.min(latestMs, Math.max(soonestMs, overInMs)), { ref: false });
  }

  #isOver(found: Watched, episode: Episode, rule: AlertRule): boolean {
    if (this.#refusedLately(found, episode, rule) || this.#lowRate(found, rule) !== undefined) return false;
    const isByRate = episode.because === 'rate' && found.rate !== undefined;
    return isByRate || this.#clock.now() - episode.lastAt >= rule.quietMs;
  }

  /** Whether calls are refused by an open circuit, or were until a short while ago: they cannot fail, which is no quiet. */
  #refusedLately({ integration }: Watched, episode: Episode, { quietMs }: AlertRule): boolean {
    const state = this.#refusing(integration);
    const wasRefused = state !== undefined && state.refused !== episode.refused;
    episode.refused = state?.refused ?? episode.refused;
    if (state?.because === undefined) return false;
    if (wasRefused) episode.refusedAt = this.#clock.now();
    return this.#clock.now() - episode.refusedAt < quietMs;
  }

  #noneRefused(integration: string): Pick<Episode, 'refused' | 'refusedAt'> {
    return { refused: this.#refusing(integration)?.refused ?? 0, refusedAt: Number.NEGATIVE_INFINITY };
  }

  #closed(integration: string): void {
    const found = this.#watched.get(integration);
    // Another of its circuits may be open.
    if (found === undefined || this.#refusing(integration)?.because !== undefined) return;
    const rule = this.#ruleOf(integration) ?? defaultAlertRule;
    // It closed because its server is back, as so often of late.
    if (raises('crashes', found.crashes, this.#clock.now(), rule)) return;
    // Nor does it say that more calls succeed.
    if (this.#lowRate(found, rule) !== undefined) return;
    void this.#clear(found, 'closed', rule);
  }

  /** Never rejects: neither records nor the bus do. */
  async #clear(found: Watched, by: AlertEnd, rule: AlertRule): Promise<void> {
    const clock = this.#clock;
    const { integration, episode } = found;
    found.failures = [];
    if (by === 'quiet') found.crashes = [];
    if (episode === undefined) return;
    found.episode = undefined;
    clock.clearTimeout(found.timer);
    await episode.raised;
    const wallNow = clock.wallNow();
    const quietSince = by === 'quiet' ? wallNow - rule.quietMs : Number.POSITIVE_INFINITY;
    const remains = this.#refusing(integration)?.because?.now;
    const factOf = ({ failures, crashes }: AlertCounts): Fact => {
      const afterMs = clock.now() - episode.raisedAt;
      return {
        type: 'alert.cleared',
        alert: episode.id,
        integration,
        by,
        failures,
        crashes,
        afterMs,
        ...(remains !== undefined && { remains }),
        ...this.#origin(),
      };
    };
    const cleared = await this.#records?.clear(episode.id, by, wallNow, quietSince, factOf);
    // One that is not on record was told by us, and nobody else clears it.
    if (this.#stopped || (cleared?.is === 'gone' && episode.recorded)) return;
    if (cleared?.is === 'failing') {
      if (found.episode !== undefined) return;
      found.episode = { ...episode, lastAt: this.#monotonic(cleared.lastFailureAt) };
      this.#clearWhenOver(found, rule);
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
