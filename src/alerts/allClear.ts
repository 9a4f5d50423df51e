import type { AlertCounts, AlertRecords } from '../policy/records/alertRecord.ts';
import { type AlertRule, raises } from '../policy/alerts.ts';
import type { Fact } from '../policy/facts/facts.ts';
import type { AlertOrigin, AlertEnd } from '../policy/facts/alertFacts.ts';
import type { Bus } from '../telemetry/bus.ts';
import { type Episode, lowRate, ownTime, type Watched } from './episode.ts';
import type { OutagesParts } from './outages.ts';

interface AllClearParts extends Pick<OutagesParts, 'clock' | 'refusing'> {
  /** Is told of alerts that are cleared. */
  readonly bus: Pick<Bus, 'tell' | 'masked'>;
  /** Returns the origin of its alerts. */
  readonly origin: () => AlertOrigin;
  /** Without them this runtime decides alone. */
  readonly records: () => AlertRecords | undefined;
}

/** Time in ms between looks whether calls are still refused. */
const lookMs = 10_000;

/** Ends an alert: after a quiet time, when the circuit has closed, or when the success rate has recovered; none while an open circuit refuses calls. */
export class AllClear {
  readonly #parts: AllClearParts;
  #stopped = false;

  constructor(parts: AllClearParts) {
    this.#parts = parts;
  }

  stop(watched: Iterable<Watched>): void {
    this.#stopped = true;
    for (const { timer } of watched) this.#parts.clock.clearTimeout(timer);
  }

  /** Returns the state an episode begins with: refusals count from now on. */
  noneRefused(integration: string): Pick<Episode, 'refused' | 'refusedAt'> {
    return { refused: this.#parts.refusing(integration)?.refused ?? 0, refusedAt: Number.NEGATIVE_INFINITY };
  }

  /** Clears the open alert once it is over. One timer for an episode, set anew when it comes up: failures come in floods. */
  clearWhenOver(found: Watched, rule: AlertRule): void {
    const clock = this.#parts.clock;
    clock.clearTimeout(found.timer);
    const { episode, rate } = found;
    if (episode === undefined || this.#stopped) return;
    const isByRate = episode.because === 'rate' && rate !== undefined;
    const isLow = lowRate(found, rule, clock.now()) !== undefined;
    const quietAt = isByRate ? Number.NEGATIVE_INFINITY : episode.lastAt + rule.quietMs;
    const overAt = isLow ? Math.max(quietAt, rate?.failureFreeAt(rule) ?? quietAt) : quietAt;
    const due = (): void => {
      const isOver = found.episode !== undefined && this.#isOver(found, found.episode, rule);
      if (isOver) void this.#clear(found, isByRate ? 'recovered' : 'quiet', rule);
      else this.clearWhenOver(found, rule);
    };
    const state = this.#parts.refusing(found.integration);
    const soonestMs = state?.because === undefined ? 0 : lookMs;
    const latestMs = state === undefined ? Number.POSITIVE_INFINITY : lookMs;
    const overInMs = overAt - clock.now();
    found.timer = clock.setTimeout(due, Math.min(latestMs, Math.max(soonestMs, overInMs)), { ref: false });
  }

  /** Calls of an integration were counted whose alert is one by rate. */
  rateCounted(found: Watched, episode: Episode, rule: AlertRule): void {
    if (this.#isOver(found, episode, rule)) void this.#clear(found, 'recovered', rule);
  }

  circuitClosed(found: Watched, rule: AlertRule): void {
    // Another of its circuits may be open.
    if (this.#parts.refusing(found.integration)?.because !== undefined) return;
    const now = this.#parts.clock.now();
    // It closed because its server is back, as so often of late.
    if (raises('crashes', found.crashes, now, rule)) return;
    // Nor does it say that more calls succeed.
    if (lowRate(found, rule, now) !== undefined) return;
    void this.#clear(found, 'closed', rule);
  }

  #isOver(found: Watched, episode: Episode, rule: AlertRule): boolean {
    const now = this.#parts.clock.now();
    if (this.#refusedLately(found, episode, rule) || lowRate(found, rule, now) !== undefined) return false;
    const isByRate = episode.because === 'rate' && found.rate !== undefined;
    return isByRate || now - episode.lastAt >= rule.quietMs;
  }

  /** Tells whether calls are refused by an open circuit, or were until a short while ago: they cannot fail, which is no quiet. */
  #refusedLately({ integration }: Watched, episode: Episode, { quietMs }: AlertRule): boolean {
    const state = this.#parts.refusing(integration);
    const wasRefused = state !== undefined && state.refused !== episode.refused;
    episode.refused = state?.refused ?? episode.refused;
    if (state?.because === undefined) return false;
    if (wasRefused) episode.refusedAt = this.#parts.clock.now();
    return this.#parts.clock.now() - episode.refusedAt < quietMs;
  }

  /** Never rejects: neither records nor the bus do. */
  async #clear(found: Watched, by: AlertEnd, rule: AlertRule): Promise<void> {
    const clock = this.#parts.clock;
    const { integration, episode } = found;
    found.failures = [];
    if (by === 'quiet') found.crashes = [];
    if (episode === undefined) return;
    found.episode = undefined;
    clock.clearTimeout(found.timer);
    await episode.raised;
    const wallNow = clock.wallNow();
    const quietSince = by === 'quiet' ? wallNow - rule.quietMs : Number.POSITIVE_INFINITY;
    const remains = this.#parts.refusing(integration)?.because?.now;
    const factOf = ({ failures, crashes }: AlertCounts): Fact => {
      const afterMs = clock.now() - episode.raisedAt;
      return this.#parts.bus.masked<Fact>({
        type: 'alert.cleared',
        alert: episode.id,
        integration,
        by,
        failures,
        crashes,
        afterMs,
        ...(remains !== undefined && { remains }),
        ...this.#parts.origin(),
      });
    };
    const cleared = await this.#parts.records()?.clear(episode.id, by, wallNow, quietSince, factOf);
    // An alert that is not on record was told by us, and nobody else clears it.
    if (this.#stopped || (cleared?.is === 'gone' && episode.recorded)) return;
    if (cleared?.is === 'failing') {
      if (found.episode !== undefined) return;
      found.episode = { ...episode, lastAt: ownTime(clock, cleared.lastFailureAt) };
      this.clearWhenOver(found, rule);
      return;
    }
    const isCleared = cleared?.is === 'cleared';
    this.#parts.bus.tell(factOf(isCleared ? cleared : episode), isCleared);
  }
}
