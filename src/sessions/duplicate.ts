import type { Clock } from '../policy/clock.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import type { Acceptance } from './acceptance.ts';
import { messageNamed, type NamedMessage } from './mailbox.ts';
import type { StoredEnd } from './sessionStore.ts';
import { outcomeIn } from './storedOutcome.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';

/** Pause before the record is asked again, in ms: twice as long each time, up to the last. */
const firstPauseMs = 50;
const lastPauseMs = 1000;

/** The answer to a second message of a key. @param ended - asked for the outcome of the first when somebody looks for it. */
export function duplicateOf(id: string, ended: () => Promise<Outcome<unknown>>): Acceptance {
  let processed: Promise<Outcome<unknown>> | undefined;
  const answer = { accepted: false, reason: 'duplicate', id };
  return Object.defineProperty(answer, 'processed', { get: () => (processed ??= ended()) }) as Acceptance;
}

/** Waits for the end of a message on record, of a dead letter that was sent again for that of its new message. Never rejects. */
export async function recordedOutcome(
  session: string,
  first: NamedMessage,
  read: (message: NamedMessage) => Promise<StoredEnd | null | undefined>,
  { clock, isOver }: { readonly clock: Clock; readonly isOver: () => boolean },
): Promise<Outcome<unknown>> {
  let message = first;
  for (let pauseMs = firstPauseMs; !isOver(); pauseMs = Math.min(lastPauseMs, 2 * pauseMs)) {
    const end = await read(message);
    const [, as = ''] = /^sent again as (.+)$/.exec(end?.error ?? '') ?? [];
    const next = messageNamed(as, session);
    if (next !== undefined) message = next;
    else if (end !== undefined && end?.state !== 'waiting' && end?.state !== 'taken') return outcomeOf(session, end);
    else await new Promise<void>((resolve) => void clock.setTimeout(resolve, pauseMs, { ref: false }));
  }
  return { ok: false, failure: sessionFailure(session, turnEnds.unheard) };
}

function outcomeOf(session: string, end: StoredEnd | null): Outcome<unknown> {
  if (end?.outcome !== undefined) return outcomeIn(end.outcome);
  const { state = 'forgotten', error = 'what came of it is not kept any more' } = end ?? {};
  const isLetter = state === 'poison' || state === 'expired' || state === 'malformed';
  const message = isLetter ? `It is a dead letter: ${state}` : `It was accepted before, and is ${state}: ${error}`;
  const outcome = state === 'done' ? 'done' : 'unknown';
  return { ok: false, failure: sessionFailure(session, { kind: 'unknown', message, outcome }) };
}
