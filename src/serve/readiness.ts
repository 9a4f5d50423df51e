import { formatDuration } from '../policy/duration.ts';

/** How long a message may wait while nothing is done in its session, in ms: an actor that restarts takes a few seconds. */
const patienceMs = 30_000;

/** What of a session says whether it makes progress. */
export interface Progressing {
  readonly id: string;
  /** In ms; 0 where nothing waits. */
  readonly oldestWaitMs: number;
  readonly busy: boolean;
  /** Another process has it, and its messages. */
  readonly heldElsewhere: boolean;
}

export interface ReadinessParts {
  readonly phase: 'starting' | 'running' | 'stopping';
  /** Whether what is accepted now is kept. */
  readonly keeps: boolean;
  readonly sessions: Iterable<Progressing>;
  /** Whether no further session can be held. */
  readonly isFull: boolean;
}

/** Whether new work should come here, and if not, why: one sentence each. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** Ready is what makes progress, not what merely answers: a session whose message waits while nothing works on it is none. */
export function readinessOf({ phase, keeps, sessions, isFull }: ReadinessParts): Readiness {
  const reasons: string[] = [];
  if (phase === 'starting') reasons.push('It is starting.');
  if (phase === 'stopping') reasons.push('It is stopping: what is under way may end, and nothing new is begun.');
  if (!keeps) reasons.push('The store is out of order: what is accepted now would not survive a restart.');
  if (isFull) reasons.push('It holds as many sessions as it may (--max-sessions): it takes no new one.');
  for (const { id, oldestWaitMs, busy, heldElsewhere } of sessions) {
    if (busy || heldElsewhere || oldestWaitMs <= patienceMs) continue;
    reasons.push(`A message of ${id} has waited for ${formatDuration(oldestWaitMs)}, and nothing works on it.`);
    if (reasons.length >= mostReasons) break;
  }
  return { ready: reasons.length === 0, reasons };
}

const mostReasons = 10;
