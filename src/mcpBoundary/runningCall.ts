import { limitText } from '../policy/duration.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Timer } from '../policy/clock.ts';
import type { BoundarySettings } from './boundaryOptions.ts';

/** Why a call ended before its handler did. */
export type EndedBy = 'limit' | 'cancelled' | 'uncaught' | 'closing';

/** A call whose handler runs; until it has ended, its first end decides. */
export interface RunningCall {
  /** What the handler is to hear; aborted when the call is ended before it. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** Ends it with an error. Later calls do nothing. */
  end(by: EndedBy, error: Error): void;
  /** The handler let itself be heard. */
  alive(): void;
  /** The handler waits for the client, during which it is not idle, until the function it gets is called. */
  asks(): () => void;
  /** The handler has ended. @returns how its call had been ended before it, and how long ago in ms; undefined when it was not. */
  finished(): { readonly by: EndedBy; readonly lateByMs: number } | undefined;
}

/** Of all servers of this process: an error that nobody caught is the process's, and so is the end of its stdin. */
const running = new Set<RunningCall>();
const current = new AsyncLocalStorage<RunningCall>();

const waiters = new Set<() => void>();

/** Resolves when no call is in flight. */
export function allCallsEnded(): Promise<void> {
  return running.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.add(resolve));
}

/** Calls that have not ended. */
export function callsInFlight(): readonly RunningCall[] {
  return [...running];
}

/**
 * The call in whose doing this is asked: also in a timer, a listener or a promise that its handler left behind. Undefined where that
 * cannot be told.
 */
export function currentCall(): RunningCall | undefined {
  return current.getStore();
}

/** Runs a handler as the doing of its call. */
export function runAs<T>(call: RunningCall, work: () => T): T {
  return current.run(call, work);
}

/** @param ended - told once, when the call is ended before its handler. */
export function startCall(
  { clock, idleMs, overallMs }: BoundarySettings,
  client: AbortSignal | undefined,
  ended: (by: EndedBy, error: Error) => void,
): RunningCall {
  const own = new AbortController();
  const startedAt = clock.now();
  let lastSignAt = startedAt;
  let asking = 0;
  let timer: Timer | undefined;
  let ending: { readonly by: EndedBy; readonly at: number } | undefined;
  let isOver = false;

  const leave = (): void => {
    isOver = true;
    clock.clearTimeout(timer);
    client?.removeEventListener('abort', cancelled);
    running.delete(call);
    if (running.size > 0) return;
    for (const wake of waiters) wake();
    waiters.clear();
  };

  const dueAt = (): number => {
    const idleDueAt = lastSignAt + idleMs + (clock.stalls?.since(lastSignAt) ?? 0);
    return Math.min(asking > 0 ? Infinity : idleDueAt, startedAt + overallMs);
  };

  // After a blocked event loop timers run before the I/O that would have shown a sign of life.
  const arm = (): void => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(() => clock.nextTurn(judge), Math.max(0, dueAt() - clock.now()));
  };

  const judge = (): void => {
    if (isOver) return;
    if (clock.now() < dueAt()) arm();
    else {
      const overall = clock.now() >= startedAt + overallMs;
      const what = overall
        ? `did not end within ${limitText(overallMs)}`
        : `gave no sign of life for ${limitText(idleMs)}`;
      call.end('limit', new Error(`The tool ${what} and was given up; its outcome is unknown`));
    }
  };

  const cancelled = (): void => call.end('cancelled', new Error('Cancelled by the client'));

  const call: RunningCall = {
    signal: own.signal,
    get isOver() {
      return isOver;
    },
    end(by, error) {
      if (isOver) return;
      ending = { by, at: clock.now() };
      leave();
      ended(by, error);
      // The client's own reason is kept.
      own.abort(by === 'cancelled' ? client?.reason : error);
    },
    alive() {
      lastSignAt = clock.now();
    },
    asks() {
      asking += 1;
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        asking -= 1;
        lastSignAt = clock.now();
        if (!isOver) arm();
      };
    },
    finished() {
      if (!isOver) leave();
      return ending === undefined ? undefined : { by: ending.by, lateByMs: clock.now() - ending.at };
    },
  };

  running.add(call);
  arm();
  client?.addEventListener('abort', cancelled, { once: true });
  if (client?.aborted === true) cancelled();
  return call;
}
