import { type DrainOrder, stoppingAt } from '../calls/draining.ts';
import type { SessionLimits } from '../policy/records/flight.ts';
import { inWholeMs } from '../policy/text/duration.ts';
import type { Persistence } from './persistence.ts';
import type { Session } from './session.ts';
import type { SessionScope } from './sessionScope.ts';
import type { Turns } from './turns.ts';
import { whyTurn } from './turnWhy.ts';
import type { SessionWhy } from './why.ts';

interface SessionSigns extends Pick<Session, 'id' | 'state' | 'waiting' | 'heldElsewhere'> {
  readonly limits: SessionLimits;
}

interface SessionParts {
  readonly scope: SessionScope;
  readonly persistence: Persistence;
  readonly turns: Turns;
}

/**
 * Tells what a session waits for, by its own ids.
 * @param end - whether it has stopped, and by which order it ends where it has not yet.
 */
export function whySession(
  { id: session, state, waiting, heldElsewhere, limits }: SessionSigns,
  { scope, persistence, turns }: SessionParts,
  end: { readonly stopped: boolean; readonly order: DrainOrder | undefined },
): SessionWhy {
  const { clock, inbox, budget, tools } = scope;
  const now = clock.now();
  const turn = whyTurn(turns.running, now, limits.releaseMs);
  const spinning = turn.turn && turns.repeats?.why(turn.turn.turn);
  const inInbox = inbox?.waitingOf(session).map(({ id, what, askedAt, deadlineAt }) => {
    const wallNow = clock.wallNow();
    return { question: id, inbox: true, what, sinceMs: wallNow - askedAt, deadlineInMs: deadlineAt - wallNow };
  });
  const { recovering } = persistence;
  const kept = tools.keptWhy(session);
  const until = end.stopped ? now : end.order?.until;
  return inWholeMs({
    session,
    state,
    waiting,
    heldElsewhere,
    ...(until !== undefined && { stopping: stoppingAt({ since: end.order?.since, until }, now) }),
    ...(recovering !== undefined && { recovering: recovering.calls }),
    ...turn,
    ...{ spinning, budget: budget?.text, questions: inInbox ?? turn.questions },
    ...(kept.length > 0 && { kept }),
  });
}
