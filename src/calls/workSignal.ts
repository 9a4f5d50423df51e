/** Signals of attempts in flight: to write a mark on the signal of each would cost a third of the signal itself. */
const ofAttempts = new Set<AbortSignal>();

const ofWork = Symbol('of work under way');
const retried = Symbol('of work that is tried again as a whole');
const ofSession = Symbol('of a turn of a session');

interface WorkSignal extends AbortSignal {
  [ofWork]?: true;
  [retried]?: number;
  [ofSession]?: string;
}

/**
 * Marks the signal of a fallback or a turn: a call that is made with it is part of that. Written on the signal, as the collector would look
 * at each of them again if they were kept in a weak set.
 * @param session - in a turn of which it goes on, where it is one.
 */
export function markOfWork(signal: AbortSignal, session?: string): void {
  (signal as WorkSignal)[ofWork] = true;
  if (session !== undefined) (signal as WorkSignal)[ofSession] = session;
}

/** The session in a turn of which the work of a signal goes on; undefined where it is in none. */
export function sessionOfWork(signal: AbortSignal | undefined): string | undefined {
  return (signal as WorkSignal | undefined)?.[ofSession];
}

/** The same for the signal of an attempt, until {@link attemptIsOver} is told of it. */
export function markOfAttempt(signal: AbortSignal): void {
  ofAttempts.add(signal);
}

/** Ends the mark: work made with the signal from now on is part of nothing. */
export function attemptIsOver(signal: AbortSignal): void {
  ofAttempts.delete(signal);
}

/** Tells whether a signal was marked, and its work goes on. */
export function isOfWork(signal: AbortSignal | undefined): boolean {
  if (signal === undefined || signal.aborted) return false;
  return ofAttempts.has(signal) || (signal as WorkSignal)[ofWork] === true;
}

/**
 * Marks the signal of work that is tried again as a whole: what is called with it makes one attempt.
 * @param maxAttempts - of the work, from 1.
 */
export function markRetried(signal: AbortSignal, maxAttempts: number): void {
  (signal as WorkSignal)[retried] = maxAttempts;
}

/** Attempts of the work that has this signal; undefined when {@link markRetried} was not told of it. */
export function attemptsOfWork(signal: AbortSignal | undefined): number | undefined {
  return (signal as WorkSignal | undefined)?.[retried];
}

/** Tells whether {@link markRetried} was told of it. */
export function isRetried(signal: AbortSignal | undefined): boolean {
  return attemptsOfWork(signal) !== undefined;
}

/** Aborted with either; part of what the first one is of. */
export function joinedSignal(first: AbortSignal, second: AbortSignal): AbortSignal {
  const joined = AbortSignal.any([first, second]);
  markRetriedAs(joined, second);
  markAs(joined, first);
  return joined;
}

/** Marks a signal as part of what another one is of. */
export function markAs(signal: AbortSignal, other: AbortSignal | undefined): void {
  if (isOfWork(other)) markOfWork(signal);
  markRetriedAs(signal, other);
}

function markRetriedAs(signal: AbortSignal, other: AbortSignal | undefined): void {
  const attempts = attemptsOfWork(other);
  if (attempts !== undefined) markRetried(signal, attempts);
  markSessionAs(signal, other);
}

/** Marks a signal as of the session that another one is of. */
export function markSessionAs(signal: AbortSignal, other: AbortSignal | undefined): void {
  const session = sessionOfWork(other);
  if (session !== undefined) (signal as WorkSignal)[ofSession] = session;
}
