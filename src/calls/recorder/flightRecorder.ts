import type { AttemptEnd, Befell, Flight, PendingRow } from '../../policy/records/flight.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { IntegrationPolicy } from '../../policy/policy.ts';
import type { Call } from '../call.ts';
import type { CallSettings } from '../callOptions.ts';
import { LastRows } from './lastRows.ts';
import {
  asRow,
  briefOf,
  type HeldRow,
  isOfNobody,
  type SettingsBrief,
  SettingsTable,
  withoutCause,
} from '../settingsBrief.ts';

/** Attempts that are held; of them about 60 bytes each. */
const mostAttempts = 1024;
/** Numbers of one attempt. */
const width = 6;
/** Failed attempts, and ends of calls without an answer, that are held. */
const mostFailures = 512;
/** Refused calls that are held: they come in floods, and are not to push attempts out. */
const mostRefusals = 128;
/** Number of events from outside that befell the integration: most of it is rare, and the rest cannot be told without it. */
const mostInputs = 128;
/** Calls under way that one record tells of. */
const mostPending = 200;

/** Its place in the order of all that happened. */
interface Ordered {
  readonly order: number;
  readonly row: HeldRow;
}

/** An attempt, as far as it is asked: it began at a time in monotonic ms. */
interface Started {
  readonly startedAt: number;
}

/** End of an attempt or a call: its time and reason. */
interface Ended<E> {
  readonly facts: FailureFacts;
  readonly end: E;
  readonly tool: string | undefined;
  /** Monotonic ms. */
  readonly now: number;
}

/**
 * Holds the last attempts of an integration, and how its calls ended, so that they can be played again. Of a fixed size: a new entry takes
 * the place of the oldest. An attempt that is answered allocates nothing.
 */
export class FlightRecorder {
  readonly #policy: IntegrationPolicy;
  readonly #answered = new AnsweredAttempts();
  readonly #failures = new LastRows<Ordered>(mostFailures);
  readonly #refusals = new LastRows<Ordered>(mostRefusals);
  readonly #inputs = new LastRows<Ordered>(mostInputs);
  #order = 0;
  #lastSettings: object | undefined = undefined;
  #lastBrief: SettingsBrief | undefined = undefined;

  constructor(policy: IntegrationPolicy) {
    this.#policy = policy;
  }

  /** True where it holds something that was not taken. */
  get hasNews(): boolean {
    return this.#answered.news + this.#failures.news + this.#refusals.news + this.#inputs.news > 0;
  }

  /** @param now - in monotonic ms, as it was read: another number would be allocated. */
  answered<I, O>(call: Call<I, O>, attempt: Started, now: number, tool: string | undefined): void {
    this.#answered.add(call, attempt, now, this.#order++, tool, this.#briefOf(call.settings));
  }

  failed<I, O>(
    call: Call<I, O>,
    { number: attempt, startedAt }: Started & { readonly number: number },
    { facts, end, tool, now }: Ended<AttemptEnd>,
  ): void {
    const { stream } = call.settings;
    const continuation = stream === undefined || stream.continuation === 'any' ? undefined : stream.continuation;
    this.#add(this.#failures, {
      what: 'attempt',
      call: call.number,
      arrivedAt: call.startedAt,
      tool,
      settings: this.#settingsOf(call),
      attempt,
      startedAt,
      endedAt: now,
      end,
      failure: withoutCause(facts),
      delayMs: undefined,
      draw: undefined,
      continuation,
    });
  }

  /**
   * Notes the step after the attempt that failed last.
   * @param delayMs - how long the call waits; `null`: for a restart; undefined: it ends.
   * @param draw - of chance, for the wait.
   */
  decided({ number }: { readonly number: number }, delayMs: number | null | undefined, draw: number | undefined): void {
    const row = this.#failures.last?.row;
    if (row?.what === 'attempt' && row.call === number) Object.assign(row, { delayMs, draw });
  }

  /** A call ended without an answer of the integration. */
  ended<I, O>(call: Call<I, O>, { facts, end, tool, now }: Ended<'failed' | 'refused' | 'fell_back'>): void {
    this.#add(end === 'refused' ? this.#refusals : this.#failures, {
      what: 'end',
      call: call.number,
      arrivedAt: call.startedAt,
      tool,
      settings: this.#settingsOf(call),
      attempts: call.attempts,
      endedAt: now,
      end,
      failure: withoutCause(facts),
    });
  }

  /** The work of an attempt has ended that was given up. */
  workEnded({ number: call }: { readonly number: number }, attempt: number, now: number): void {
    this.#add(this.#failures, { what: 'work', call, attempt, at: now });
  }

  befell(what: Befell, now: number): void {
    this.#add(this.#inputs, { ...what, what: 'input', at: now });
  }

  /**
   * @param pending - calls under way, with the tools they call.
   * @param now - in monotonic ms.
   * @param wallOffset - what makes wall time of that.
   * @returns what it holds that was not taken before, oldest first, and then what is under way.
   */
  take<I, O>(
    pending: readonly { readonly call: Call<I, O>; readonly tool: string | undefined }[],
    now: number,
    wallOffset: number,
  ): Flight {
    const table = new SettingsTable(this.#policy);
    const wall = (at: number): number => Math.round((wallOffset + at) * 1000) / 1000;
    const { rows: answered, missed } = this.#answered.take();
    const taken = [this.#failures, this.#refusals, this.#inputs].map((part) => part.take());
    const rows = [
      ...taken.flatMap((part) => part.rows),
      ...answered.map(({ order, ...each }) => ({ order, row: { what: 'attempt', end: 'answered', ...each } as const })),
    ].toSorted((one, other) => one.order - other.order);
    return {
      rows: [
        ...rows.map(({ row }) => asRow(row, table, wall)),
        ...pending.slice(0, mostPending).map(({ call, tool }) => this.#pending(call, tool, now, table, wall)),
      ],
      limits: table.limits,
      retries: table.retries,
      missed: missed + taken.reduce((sum, part) => sum + part.missed, 0),
    };
  }

  #add(rows: LastRows<Ordered>, row: HeldRow): void {
    rows.add({ order: this.#order++, row });
  }

  #pending<I, O>(
    call: Call<I, O>,
    tool: string | undefined,
    at: number,
    table: SettingsTable,
    wall: (at: number) => number,
  ): PendingRow {
    const startedAt = call.attempt?.startedAt;
    return {
      what: 'pending',
      call: call.number,
      tool,
      ...table.of(this.#settingsOf(call)),
      arrivedAt: wall(call.startedAt),
      attempt: call.attempts,
      ...(startedAt !== undefined && { startedAt: wall(startedAt) }),
      waitsFor: startedAt === undefined ? (call.waiting ?? 'fallback') : 'in_flight',
      at: wall(at),
    };
  }

  #settingsOf<I, O>(call: Call<I, O>): SettingsBrief {
    const brief = this.#briefOf(call.settings);
    const effect = call.expectedEffect;
    return effect === brief.effect ? brief : { ...brief, effect };
  }

  /** That of calls without options of their own is made once. What belongs to one caller is not held on to. */
  #briefOf<I, O>(settings: CallSettings<I, O>): SettingsBrief {
    if (settings === this.#lastSettings && this.#lastBrief !== undefined) return this.#lastBrief;
    const brief = briefOf(settings);
    if (isOfNobody(settings)) {
      this.#lastSettings = settings;
      this.#lastBrief = brief;
    }
    return brief;
  }
}

/** The last attempts that were answered. To add one allocates nothing; their place is made with the first. */
class AnsweredAttempts {
  #numbers: Float64Array | undefined = undefined;
  readonly #tools: (string | undefined)[] = [];
  readonly #settings: SettingsBrief[] = [];
  #count = 0;
  #taken = 0;

  /** Attempts that were added and not taken; some of them may be gone. */
  get news(): number {
    return this.#count - this.#taken;
  }

  // The attempt, not the time at which it started: to hand a number on is to allocate it.
  add<I, O>(
    call: Call<I, O>,
    attempt: Started,
    endedAt: number,
    order: number,
    tool: string | undefined,
    settings: SettingsBrief,
  ): void {
    const numbers = (this.#numbers ??= new Float64Array(mostAttempts * width));
    const place = this.#count++ % mostAttempts;
    const at = place * width;
    numbers[at] = call.number;
    numbers[at + 1] = call.attempts;
    numbers[at + 2] = call.startedAt;
    numbers[at + 3] = attempt.startedAt;
    numbers[at + 4] = endedAt;
    numbers[at + 5] = order;
    this.#tools[place] = tool;
    this.#settings[place] = settings;
  }

  /** @returns what was added since it was last taken, oldest first, and how many of it are gone. Times are monotonic ms. */
  take() {
    const first = Math.max(this.#taken, this.#count - mostAttempts);
    const missed = first - this.#taken;
    const rows = Array.from({ length: this.#count - first }, (_, index) => this.#read((first + index) % mostAttempts));
    this.#taken = this.#count;
    return { rows, missed };
  }

  #read(place: number) {
    const at = place * width;
    const [call = 0, attempt = 0, arrivedAt = 0, startedAt = 0, endedAt = 0, order = 0] =
      this.#numbers?.subarray(at, at + width) ?? [];
    const settings = this.#settings[place] as SettingsBrief;
    return { call, attempt, arrivedAt, startedAt, endedAt, order, tool: this.#tools[place], settings };
  }
}
