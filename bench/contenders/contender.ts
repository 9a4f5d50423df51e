/** What is called: it answers by itself, or, where `signal` is given, with a look at it. */
export type Work = (input: number, signal?: AbortSignal) => Promise<number>;

/** How a contender is set up; what it cannot do it leaves out, and its file says so. */
export interface Setup {
  readonly work: Work;
  /** Whether the work is given the signal that aborts its attempt. */
  readonly readsSignal?: boolean | undefined;
  /** The wait before a second attempt, in ms. @defaultValue 1000, doubled for each further attempt */
  readonly waitMs?: number | undefined;
  /** Failures the breaker bears: no suite but `open` is about one that opens. @defaultValue 5 in a row */
  readonly neverOpens?: boolean | undefined;
}

/** A way to call something, compared with others under one policy. */
export interface Contender {
  readonly name: string;
  /** What does the work, in half a sentence. */
  readonly about: string;
  /** How dear a call is, as a power of ten of what a bare one is: as many fewer are measured. */
  readonly dear: 0 | 1 | 2;
  /** Whether the work can be given a signal. */
  readonly hasSignal: boolean;
  /** Whether a call can be ended by a signal of its caller. */
  readonly takesSignal: boolean;
  readonly start: (setup: Setup) => Running | Promise<Running>;
}

/** A contender that is ready. */
export interface Running {
  call(input: number, signal?: AbortSignal): Promise<unknown>;
  stop(): void | Promise<void>;
}

/** The policy of all: what is not here is the default of each. */
export const policy = { maxAttempts: 4, attemptMs: 30_000, backoffMs: 1000, maxBackoffMs: 8000, failuresInRow: 5 };
