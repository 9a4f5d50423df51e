import type { Fact } from '../policy/facts.ts';
import { lostCallFact } from './lostCall.ts';
import { messageId } from './messageId.ts';
import type { Recovered } from './sessionStore.ts';

/**
 * Tells of a session that was taken up: which messages are not delivered any more, which calls were lost, and what goes on.
 * @param answered - lost calls that were answered, and told of, before it was claimed.
 */
export function recoveredFacts(
  session: string,
  { waiting, deadLetters, lost, open }: Recovered,
  answered = 0,
): readonly Fact[] {
  const letters = deadLetters.map(
    ({ reason, ...name }): Fact => ({
      type: 'session.dead_letter',
      session,
      message: messageId(session, name),
      reason,
    }),
  );
  const facts: readonly Fact[] = [...letters, ...lost.map(lostCallFact)];
  if (waiting.length + open.length + facts.length + answered === 0) return facts;
  const counts = {
    ...{ waiting: waiting.length, lostCalls: lost.length + answered },
    ...{ openCalls: open.length, deadLetters: deadLetters.length },
  };
  return [...facts, { type: 'session.resumed', session, ...counts }];
}
