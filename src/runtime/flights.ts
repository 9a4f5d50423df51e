import type { CallPath } from '../calls/callPath.ts';
import { FlightRecorder } from '../calls/recorder/flightRecorder.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type {
  FlightReason,
  FlightRecord,
  IntegrationTraits,
  PolicyRow,
  SessionLimits,
} from '../policy/records/flight.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { policyMark, runSeparator } from '../store/flights.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import { redactTexts } from '../redaction/redactTexts.ts';
import type { Store } from '../store/store.ts';
import type { Bus } from '../telemetry/bus.ts';

/** Interval at which the recorder of one integration is written while more goes wrong, in ms. */
const writeEveryMs = 15_000;

/** Most that the wall clock may move against the monotonic one before records follow it, in ms. */
const mostDriftMs = 50;

type RecordedPath = Pick<CallPath<unknown, unknown>, 'name' | 'takeFlight'>;

interface Entry {
  readonly run: string;
  readonly recorder: FlightRecorder;
  readonly policy: IntegrationPolicy;
  readonly traits: IntegrationTraits;
  /** Wall time in ms. */
  readonly since: number;
  path: RecordedPath | undefined;
  /** Mark of its policy; made with the first record. */
  mark: string | undefined;
  /** Monotonic ms. */
  writtenAt: number;
  timer: Timer | undefined;
}

interface FlightsOptions {
  readonly clock: Clock;
  readonly bus: Pick<Bus, 'on'>;
  readonly store: () => Store | undefined;
  readonly redact: FactRedactor;
  /** Sessions of which nothing is to be written. */
  readonly forgotten?: ReadonlySet<string> | undefined;
}

/**
 * The flight recorders of a runtime: what they hold is written to its store when something goes wrong, at once and then now and then while it
 * goes on, when an integration ends, and when somebody asks. Without a store it is dropped by the next entries. Keeps no process alive.
 */
export class Flights {
  readonly #options: FlightsOptions;
  #offset: number | undefined = undefined;
  readonly #run = crypto.randomUUID();
  /** Number of integrations that have ended: a later one of the same name has calls of the same numbers. */
  #ended = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #sessions = new Map<string, { readonly watchdog: SessionLimits; readonly since: number }>();

  constructor(options: FlightsOptions) {
    const { bus } = options;
    this.#options = options;
    bus.on('call.failed', ({ integration, failure }) => {
      if (failure.kind !== 'cancelled') this.#tripped(integration, 'failure');
    });
    bus.on('breaker.opened', ({ integration }) => this.#tripped(integration, 'breaker'));
    bus.on('integration.crashed', ({ integration }) => this.#tripped(integration, 'crash'));
    bus.on('alert.raised', ({ integration }) => this.#tripped(integration, 'alert'));
    bus.on('session.watchdog_fired', ({ session }) => {
      this.#keepSession(session);
      for (const [name, { recorder }] of this.#entries) if (recorder.hasNews) this.#tripped(name, 'watchdog');
    });
  }

  /** The recorder of an integration that enters the runtime. */
  of(name: string, policy: IntegrationPolicy, traits: IntegrationTraits): FlightRecorder {
    const recorder = new FlightRecorder(policy);
    const since = this.#options.clock.wallNow();
    const writtenAt = Number.NEGATIVE_INFINITY;
    const run = this.#ended === 0 ? this.#run : `${this.#run}${runSeparator}${this.#ended}`;
    const later = { path: undefined, mark: undefined, writtenAt, timer: undefined };
    this.#entries.set(name, { run, recorder, policy, traits, since, ...later });
    return recorder;
  }

  /** Its calls under way belong to what is written. */
  follow(path: RecordedPath): void {
    const entry = this.#entries.get(path.name);
    if (entry !== undefined) entry.path = path;
  }

  /** An integration is gone. */
  left(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#write(name, entry, 'stop');
    this.#entries.delete(name);
    this.#ended++;
  }

  /** A session enters the runtime. */
  session(id: string, watchdog: SessionLimits): void {
    this.#sessions.set(id, { watchdog, since: this.#options.clock.wallNow() });
  }

  sessionLeft(id: string): void {
    this.#sessions.delete(id);
  }

  /**
   * Writes what all recorders hold, and what is under way. Never rejects.
   * @param session - whose watchdog is written too.
   * @returns how many integrations had something.
   */
  async keep(because: FlightReason, session?: string): Promise<number> {
    if (session !== undefined) this.#keepSession(session);
    let kept = 0;
    for (const [name, entry] of this.#entries) if (this.#write(name, entry, because)) kept++;
    await this.#options.store()?.flush();
    return kept;
  }

  /** Writes what is in force, so that it is known of a process that does not answer. */
  keepPolicies(): void {
    const at = this.#options.clock.wallNow();
    this.#options.store()?.flights.keep([...this.#entries].map(([name, entry]) => this.#policyRow(name, entry, at)));
  }

  /** @param told - the name as facts tell it. */
  #tripped(told: string, because: FlightReason): void {
    const name = this.#nameIn(this.#entries, told);
    const entry = this.#entries.get(name);
    if (entry === undefined || entry.timer !== undefined) return;
    const { clock } = this.#options;
    // A turn later at the earliest: what went wrong is to be among what is written.
    const waitMs = Math.max(0, entry.writtenAt + writeEveryMs - clock.now());
    entry.timer = clock.setTimeout(() => this.#write(name, entry, because), waitMs, { ref: false });
  }

  /** @returns whether there was something to write. */
  #write(name: string, entry: Entry, because: FlightReason): boolean {
    const { clock, store, forgotten } = this.#options;
    clock.clearTimeout(entry.timer);
    entry.timer = undefined;
    const kept = store()?.flights;
    const taken = kept === undefined ? undefined : entry.path?.takeFlight(this.#wallOffset());
    const rows = taken?.rows.filter((row) => !('session' in row && forgotten?.has(row.session ?? '') === true)) ?? [];
    if (kept === undefined || taken === undefined || rows.length === 0) return false;
    const flight = { ...taken, rows };
    entry.writtenAt = clock.now();
    const at = clock.wallNow();
    const row = this.#policyRow(name, entry, at);
    const policy = (entry.mark ??= policyMark(row.kept));
    const record = { integration: name, run: entry.run, pid: process.pid, at, because, policy, ...flight };
    kept.add(redactTexts(record, this.#options.redact), [row, ...this.#sessionRows(record, at)]);
    return true;
  }

  /**
   * Gives what makes wall time of monotonic time. Whole ms, and the same as long as it can be: the order of what happened within a millisecond is kept,
   * within a record and from one to the next.
   */
  #wallOffset(): number {
    const { clock } = this.#options;
    const offset = clock.wallNow() - clock.now();
    if (this.#offset === undefined || Math.abs(offset - this.#offset) > mostDriftMs) this.#offset = Math.round(offset);
    return this.#offset;
  }

  /** The name without secrets. */
  #shown(name: string): string {
    return redactTexts({ name }, this.#options.redact).name;
  }

  /** The one that is told so: facts are without secrets. */
  #nameIn(names: ReadonlyMap<string, unknown>, told: string): string {
    if (names.has(told)) return told;
    return [...names.keys()].find((name) => this.#shown(name) === told) ?? told;
  }

  #policyRow(name: string, { policy, traits, since }: Entry, seenAt: number): PolicyRow {
    return { name: this.#shown(name), kept: { of: 'integration', policy, traits }, since, seenAt };
  }

  #sessionRows({ rows }: FlightRecord, seenAt: number): readonly PolicyRow[] {
    const ids = new Set(rows.flatMap((row) => ('session' in row && row.session !== undefined ? [row.session] : [])));
    return [...ids].flatMap((id) => this.#sessionRow(id, seenAt));
  }

  #sessionRow(id: string, seenAt: number): readonly PolicyRow[] {
    const entry = this.#sessions.get(id);
    if (entry === undefined) return [];
    const { watchdog, since } = entry;
    return [{ name: this.#shown(id), kept: { of: 'session', watchdog }, since, seenAt }];
  }

  #keepSession(id: string): void {
    const { clock, store } = this.#options;
    store()?.flights.keep(this.#sessionRow(this.#nameIn(this.#sessions, id), clock.wallNow()));
  }
}
