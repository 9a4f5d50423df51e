import type { AlertRecords, OpenAlert } from '../policy/records/alertRecord.ts';
import { nextOfAlert } from '../policy/records/alertText.ts';
import {
  type AlertRule,
  type AlertRuleOf,
  countsForAlerts,
  defaultAlertRule,
  raises,
  recent,
  withOneMore,
} from '../policy/alerts.ts';
import type { CallFiguresRow } from '../policy/records/callFigures.ts';
import type { Clock } from '../policy/clock.ts';
import type { Fact } from '../policy/facts/facts.ts';
import type { AlertOrigin, AlertCause } from '../policy/facts/alertFacts.ts';
import type { Bus } from '../telemetry/bus.ts';
import { AllClear } from './allClear.ts';
import { type Episode, lowRate, ownTime, type Watched } from './episode.ts';
import { type EarlierIncident, type Incident, onIncident } from './incident.ts';
import { type LowRate, RateWindow } from './rateWindow.ts';
import { type Outage, Outages, type Refusing } from './outages.ts';

/** Reason to raise an alert. */
interface Reason extends Omit<Incident, 'cause'> {
  readonly cause: AlertCause;
}

interface AlertWatchOptions {
  readonly clock: Clock;
  /** Hears of failures and crashes, and is told of alerts. */
  readonly bus: Pick<Bus, 'on' | 'tell' | 'masked'>;
  readonly ruleOf: AlertRuleOf;
  /** Returns the origin of its alerts. */
  readonly origin: () => AlertOrigin;
  /** A name that no other alert has. */
  readonly newId: () => string;
  /** Tells how far an integration refuses calls. @defaultValue none does */
  readonly refusing?: ((integration: string) => Refusing | undefined) | undefined;
  /** Tells how calls end, for alerts by rate. @defaultValue there are none */
  readonly statistics?: { onKept(hear: (rows: readonly CallFiguresRow[]) => void): () => void } | undefined;
}

/** An open alert as the runtime that watches it sees it. */
interface OpenWatched {
  readonly integration: string;
  /** Time in ms that it lasts once nothing fails any more. */
  readonly quietMs: number;
  /** Event that ends it, where calls are refused. */
  readonly once?: string | undefined;
  /** True while too few of its calls succeed, which has to end first. @defaultValue false */
  readonly isLow?: boolean | undefined;
  /** True where it is ours alone, as the store did not take it. @defaultValue false */
  readonly unrecorded?: boolean | undefined;
}

/** Watches final failures, crashes, rates and open circuits, and raises one alert for each episode of an integration. */
export class AlertWatch {
  readonly #options: AlertWatchOptions;
  readonly #clock: Clock;
  readonly #refusing: NonNullable<AlertWatchOptions['refusing']>;
  readonly #allClear: AllClear;
  readonly #watched = new Map<string, Watched>();
  #records: AlertRecords | undefined = undefined;
  #stopped = false;
  /** Alerts that are being put on record, to be told of then. */
  #raising = 0;
  #outages: Outages | undefined = undefined;
  #settled: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(options: AlertWatchOptions) {
    const { clock, bus, origin, refusing = () => undefined } = options;
    this.#options = options;
    this.#clock = clock;
    this.#refusing = refusing;
    this.#allClear = new AllClear({ clock, bus, origin, refusing, records: () => this.#records });
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
    for (const row of figures) this.#count(row, ownTime(this.#clock, row.minute));
    for (const alert of open) this.#goOnWith(alert);
    for (const incident of earlier) this.#remember(incident);
    this.#outages = new Outages({
      clock: this.#clock,
      bus: this.#options.bus,
      refusing: this.#refusing,
      met: (outage) => this.#metOutage(outage),
      over: (integration) => this.#outageOver(integration),
    });
    const removers = [
      onIncident(
        this.#options.bus,
        (incident) => this.#met(incident),
        (integration) => this.#closed(integration),
      ),
      this.#options.bus.on('budget.spent', ({ scope, integration = scope, message }) =>
        this.#metOutage({ integration, kind: 'spinning', message }, 'budget'),
      ),
      this.#options.bus.on('mcp.tool_changed', ({ integration, message }) =>
        this.#metOutage({ integration, kind: 'permanent', message }, 'tool'),
      ),
      this.#options.statistics?.onKept((rows) => this.#counted(rows)),
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
        const rule = this.#options.ruleOf(integration) ?? defaultAlertRule;
        const { quietMs } = rule;
        const isLow = lowRate(found, rule, this.#clock.now()) !== undefined;
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

  /** True while it has still to tell of an alert, also after its stop. */
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
    this.#outages?.stop();
    this.#allClear.stop(this.#watched.values());
  }

  #goOnWith({ id, integration, because, failures, crashes, raisedAt, lastFailureAt }: OpenAlert): void {
    const found = this.#watch(integration);
    found.episode = {
      id,
      because,
      failures,
      crashes,
      raisedAt: ownTime(this.#clock, raisedAt),
      lastAt: ownTime(this.#clock, lastFailureAt),
      ...this.#allClear.noneRefused(integration),
      raised: Promise.resolve(),
      recorded: true,
    };
    this.#allClear.clearWhenOver(found, this.#options.ruleOf(integration) ?? defaultAlertRule);
  }

  #remember({ integration, kind, cause, at }: EarlierIncident): void {
    const rule = this.#options.ruleOf(integration);
    const found = this.#watch(integration);
    if (rule === undefined || !countsForAlerts(kind)) return;
    const { episode } = found;
    // Time that nobody watched is no quiet either.
    if (episode !== undefined) episode.lastAt = Math.max(episode.lastAt, ownTime(this.#clock, at));
    if (cause === 'failures' && episode !== undefined) return;
    // Incidents on record raise nothing by themselves: it takes one more.
    found[cause] = withOneMore(cause, found[cause], ownTime(this.#clock, at), rule);
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
    const rule = this.#options.ruleOf(row.integration);
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
    } else if (episode.because === 'rate') this.#allClear.rateCounted(found, episode, rule);
  }

  #met(incident: Incident): void {
    const { integration, cause, kind } = incident;
    const rule = this.#options.ruleOf(integration);
    if (rule === undefined || !countsForAlerts(kind)) return;
    const found = this.#watch(integration);
    if (cause === 'crashes' || found.episode === undefined) {
      found[cause] = withOneMore(cause, found[cause], this.#clock.now(), rule);
    }
    this.#judge(incident, found, rule);
  }

  /** Raises one alert an outage: where failures have raised one, the open circuit, or the spent budget, is the same matter. */
  #metOutage(outage: Outage, cause: AlertCause = 'circuit'): void {
    const rule = this.#options.ruleOf(outage.integration);
    if (rule === undefined) return;
    const found = this.#watch(outage.integration);
    if (found.episode === undefined) this.#raise({ ...outage, cause }, found, rule);
  }

  #outageOver(integration: string): void {
    if (this.#watched.get(integration)?.episode?.because === 'circuit') this.#closed(integration);
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

  #closed(integration: string): void {
    const found = this.#watched.get(integration);
    if (found !== undefined) this.#allClear.circuitClosed(found, this.#options.ruleOf(integration) ?? defaultAlertRule);
  }

  #raise({ integration, cause, kind, message }: Reason, found: Watched, rule: AlertRule, low?: LowRate): void {
    const now = this.#clock.now();
    const wallNow = this.#clock.wallNow();
    const counts = {
      failures: low?.failures ?? recent(found.failures, now, rule).length,
      crashes: recent(found.crashes, now, rule).length,
    };
    const id = this.#options.newId();
    const about = { integration, because: cause, ...counts, kind, message };
    const alert: OpenAlert = { ...about, id, raisedAt: wallNow, lastFailureAt: wallNow };
    const raised = Promise.resolve();
    const times = { raisedAt: now, lastAt: now, ...this.#allClear.noneRefused(integration) };
    const episode: Episode = { ...counts, ...times, id, because: cause, raised, recorded: false };
    found.failures = [];
    found.episode = episode;
    this.#allClear.clearWhenOver(found, rule);
    const { windowMs, quietMs } = rule;
    const origin = this.#options.origin();
    const { database } = origin;
    const next = database === undefined ? {} : { next: nextOfAlert(integration, cause, database) };
    const told = { type: 'alert.raised', alert: id, ...about, windowMs, quietMs, ...origin, ...next } as const;
    const fact = this.#options.bus.masked<Fact>(told);
    if (this.#records === undefined) {
      this.#options.bus.tell(fact);
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
      this.#options.bus.tell(fact, episode.recorded);
      return;
    }
    episode.id = open.id;
    const { because, integration, lastFailureAt, kind, message } = alert;
    if (because === 'failures' || because === 'crashes')
      void this.#records?.extend(integration, because, lastFailureAt, { kind, message });
  }
}
