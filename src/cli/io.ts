import type { Environment } from '../store/paths.ts';

/** Where text goes. */
export interface Output {
  write(text: string): unknown;
}

/** What a command may use of the process it runs in, so that it can be called without one. */
export interface Io {
  /** For what was asked for: text for people, or JSON. */
  readonly stdout: Output;
  /** For diagnostics. */
  readonly stderr: Output;
  readonly env: Environment;
  /** Whether stdout is a terminal. */
  readonly isTTY: boolean;
  /** Width of stdout, in characters; `Infinity` when it is no terminal. */
  readonly columns: number;
  /** Aborts on Ctrl-C, and when nobody reads stdout any longer. */
  readonly signal: AbortSignal;
  /** Wall time in ms since the epoch. */
  readonly now: () => number;
}
