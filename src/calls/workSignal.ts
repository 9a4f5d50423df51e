/** Those of attempts in flight: to write a mark on the signal of each would cost a third of the signal itself. */
const ofAttempts = new Set<AbortSignal>();

const ofWork = Symbol('of work under way');

interface WorkSignal extends AbortSignal {
  [ofWork]?: true;
}

/**
 * Marks the signal of a fallback or a turn: a call that is made with it is part of that. Written on the signal, as the collector would look
 * at each of them again if they were kept in a weak set.
 */
export function markOfWork(signal: AbortSignal): void {
  (signal as WorkSignal)[ofWork] = true;
}

/** The same for the signal of an attempt, until {@link attemptIsOver} is told of it. */
export function markOfAttempt(signal: AbortSignal): void {
  ofAttempts.add(signal);
}

/** What is made with the signal from now on is part of nothing. */
export function attemptIsOver(signal: AbortSignal): void {
  ofAttempts.delete(signal);
}

/** Whether a signal was marked, and what it is of goes on. */
export function isOfWork(signal: AbortSignal | undefined): boolean {
  if (signal === undefined || signal.aborted) return false;
  return ofAttempts.has(signal) || (signal as WorkSignal)[ofWork] === true;
}

/** Aborted with either; part of what the first one is of. */
export function joinedSignal(first: AbortSignal, second: AbortSignal): AbortSignal {
  const joined = AbortSignal.any([first, second]);
  if (isOfWork(first)) markOfWork(joined);
  return joined;
}
