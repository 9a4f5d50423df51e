import type { SettingsBrief } from './settingsBrief.ts';

/** Attempts that are held; of them about 60 bytes each. */
const mostAttempts = 1024;
/** Numbers of one attempt. */
const width = 6;

/** An attempt that was answered. Times are monotonic ms. */
export interface AnsweredAttempt {
  readonly call: number;
  readonly attempt: number;
  readonly arrivedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Its place in the order of all that happened. */
  readonly order: number;
  readonly tool: string | undefined;
  readonly settings: SettingsBrief;
}

/** The last attempts that were answered. To add one allocates nothing; their place is made with the first. */
export class AnsweredAttempts {
  #numbers: Float64Array | undefined = undefined;
  readonly #tools: (string | undefined)[] = [];
  readonly #settings: SettingsBrief[] = [];
  #count = 0;
  #taken = 0;

  /** Attempts that were added and not taken; some of them may be gone. */
  get news(): number {
    return this.#count - this.#taken;
  }

  add(
    {
      number,
      attempts,
      startedAt: arrivedAt,
    }: { readonly number: number; readonly attempts: number; readonly startedAt: number },
    // Not the number: to hand one on is to allocate it.
    attempt: { readonly startedAt: number },
    endedAt: number,
    order: number,
    tool: string | undefined,
    settings: SettingsBrief,
  ): void {
    const numbers = (this.#numbers ??= new Float64Array(mostAttempts * width));
    const place = this.#count++ % mostAttempts;
    const at = place * width;
    numbers[at] = number;
    numbers[at + 1] = attempts;
    numbers[at + 2] = arrivedAt;
    numbers[at + 3] = attempt.startedAt;
    numbers[at + 4] = endedAt;
    numbers[at + 5] = order;
    this.#tools[place] = tool;
    this.#settings[place] = settings;
  }

  /** @returns what was added since it was last taken, oldest first, and how many of it are gone. */
  take(): { readonly rows: readonly AnsweredAttempt[]; readonly missed: number } {
    const first = Math.max(this.#taken, this.#count - mostAttempts);
    const missed = first - this.#taken;
    const rows = Array.from({ length: this.#count - first }, (_, index) => this.#read((first + index) % mostAttempts));
    this.#taken = this.#count;
    return { rows, missed };
  }

  #read(place: number): AnsweredAttempt {
    const at = place * width;
    const [call = 0, attempt = 0, arrivedAt = 0, startedAt = 0, endedAt = 0, order = 0] =
      this.#numbers?.subarray(at, at + width) ?? [];
    const settings = this.#settings[place] as SettingsBrief;
    return { call, attempt, arrivedAt, startedAt, endedAt, order, tool: this.#tools[place], settings };
  }
}
