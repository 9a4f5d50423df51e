import type { Fact } from '../policy/facts.ts';
import { lostCallFact } from './lostCall.ts';
import type { Recovered } from './sessionStore.ts';

/** What is told of a session that was taken up: which messages are not delivered any more, which calls were lost, and what goes on. */
export function recoveredFacts(session: string, { waiting, aside, lost }: Recovered): readonly Fact[] {
  const asides = aside.map(
    ({ number, reason }): Fact => ({
      type: 'session.message_aside',
      session,
      message: `${session}-m${number}`,
      reason,
    }),
  );
  const facts: readonly Fact[] = [...asides, ...lost.map(lostCallFact)];
  if (waiting.length + facts.length === 0) return facts;
  const counts = { waiting: waiting.length, lostCalls: lost.length, aside: aside.length };
  return [...facts, { type: 'session.resumed', session, ...counts }];
}
