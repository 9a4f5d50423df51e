import { setTimeout } from 'node:timers/promises';
import type { Environment } from '../src/store/face.ts';

/** Sink for text. */
interface Output {
  write(text: string): unknown;
}

/** Parts of its process that a command may use, so that it can be called without one. */
export interface Io {
  /** For what was asked for: text for people, or JSON. */
  readonly stdout: Output;
  /** For diagnostics. */
  readonly stderr: Output;
  readonly env: Environment;
  /** Words by which a shell here starts this program. @defaultValue `unwedge` */
  readonly own?: string | undefined;
  /** True where stdout is a terminal. */
  readonly isTTY: boolean;
  /** Width of stdout, in characters; `Infinity` when it is no terminal and the variable COLUMNS does not say. */
  readonly columns: number;
  /** Height of stdout, in lines. @defaultValue no limit */
  readonly rows?: number | undefined;
  /** Width of stderr, in characters. @defaultValue no limit */
  readonly errorColumns?: number | undefined;
  /** So many lines are all that will be shown of what is written. @defaultValue no limit */
  readonly page?: number | undefined;
  /** Aborts on Ctrl-C and signals ({@link EndedBySignal}), and when nobody reads stdout or stderr any longer (EPIPE). */
  readonly signal: AbortSignal;
  /** From here on Ctrl-C is the business of a child that shares the terminal. @returns whether one has come since. */
  readonly leaveInterrupts?: (() => () => boolean) | undefined;
  /** From here on the command does without a reader of stderr: that it is gone no longer aborts {@link Io.signal}. */
  readonly leaveErrors?: (() => void) | undefined;
  /** From here on the process ends with the command, whatever is left in it: code of users was run, which may leave timers and sockets. */
  readonly endWithCommand?: (() => void) | undefined;
  /** From here on a signal ends the command in order: its exit code is its own, and not that of the signal. A service is told to end by no other way. */
  readonly endInOrder?: (() => void) | undefined;
  /** Wall time in ms since the epoch. */
  readonly now: () => number;
  /** Asks the person at the terminal; gives the line that was typed. @defaultValue there is none: stdin or stderr is no terminal */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Resolves after so many ms. @defaultValue a timer, which {@link Io.signal} ends at once */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/** Waits between two looks at something. Resolves early when the command is to end; never rejects. */
export async function pause({ signal, pause: wait }: Pick<Io, 'signal' | 'pause'>, ms: number): Promise<void> {
  if (wait !== undefined) return wait(ms);
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}

/** Resolves when the command is to end. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Loads a module; undefined where the command is to end before: this process ends then though it still loads. Rejects with what `load` does. */
export async function loadUnlessAborted<T>(
  load: Promise<T>,
  { signal, endWithCommand }: Pick<Io, 'signal' | 'endWithCommand'>,
): Promise<T | undefined> {
  const loaded = await Promise.race([load, untilAborted(signal)]);
  if (loaded === undefined) endWithCommand?.();
  return loaded ?? undefined;
}

/** Why {@link Io.signal} was aborted: the process was told to end. */
export interface EndedBySignal extends Error {
  readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP';
}

export function endedBySignal(signal: EndedBySignal['signal']): EndedBySignal {
  return Object.assign(new Error(`ended by ${signal}`), { signal });
}
