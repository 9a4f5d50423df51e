import type { SupervisedSession } from '../sessions/supervisedSession.ts';
import type { OldestMail } from '../sessions/sessionMail.ts';

/** A session of which a message waits that nobody takes. */
export interface UntakenMessage {
  readonly session: string;
  /** For how long its oldest one has waited, in ms. */
  readonly waitMs: number;
  /** True where this gateway has the session, or was to adopt it and could not: otherwise it cannot take the message. */
  readonly here: boolean;
}

/** Most sessions that are named. */
const most = 10;

/**
 * The sessions whose messages wait while nothing works on them: those of this gateway first, and the longest wait first.
 * @param mails - the oldest mail of each session on the store.
 * @param unadopted - sessions that were to be adopted here and could not.
 */
export function untakenMessages(
  sessions: ReadonlyMap<string, Pick<SupervisedSession, 'busy' | 'heldElsewhere' | 'oldestWaitMs'>>,
  mails: readonly OldestMail[],
  unadopted: ReadonlySet<string>,
): readonly UntakenMessage[] {
  const waits = new Map<string, number>();
  for (const [session, { busy, heldElsewhere, oldestWaitMs }] of sessions) {
    // Messages that another process has wait there.
    if (!busy && !heldElsewhere && oldestWaitMs > 0) waits.set(session, oldestWaitMs);
  }
  for (const { session, waitMs } of mails) waits.set(session, Math.max(waitMs, waits.get(session) ?? 0));
  const untaken = Array.from(waits, ([session, waitMs]) => {
    return { session, waitMs: Math.round(waitMs), here: sessions.has(session) || unadopted.has(session) };
  });
  return untaken.sort((a, b) => Number(b.here) - Number(a.here) || b.waitMs - a.waitMs).slice(0, most);
}
