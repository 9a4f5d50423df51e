import type { SupervisedSession } from '../sessions/session.ts';
import type { OldestMail } from '../sessions/sessionMail.ts';

/** A session of which a message waits that nobody takes. */
export interface UntakenMessage {
  readonly session: string;
  /** For how long its oldest one has waited, in ms. */
  readonly waitMs: number;
}

/** Most sessions that are named. */
const most = 10;

/** The sessions whose messages wait while nothing works on them, the longest wait first. @param mail - the oldest mail on the store. */
export function untakenMessages(
  sessions: Iterable<Pick<SupervisedSession, 'id' | 'busy' | 'heldElsewhere' | 'oldestWaitMs'>>,
  mail: OldestMail | undefined,
): readonly UntakenMessage[] {
  const waits = new Map<string, number>();
  for (const { id, busy, heldElsewhere, oldestWaitMs } of sessions) {
    // What another process has waits there.
    if (!busy && !heldElsewhere && oldestWaitMs > 0) waits.set(id, oldestWaitMs);
  }
  if (mail !== undefined) waits.set(mail.session, Math.max(mail.waitMs, waits.get(mail.session) ?? 0));
  const untaken = Array.from(waits, ([session, waitMs]) => ({ session, waitMs: Math.round(waitMs) }));
  return untaken.sort((a, b) => b.waitMs - a.waitMs).slice(0, most);
}
