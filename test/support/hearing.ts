import type { Clock } from '../../src/policy/clock.ts';
import type { Fact, FactOf } from '../../src/policy/facts/facts.ts';
import type { FailureFacts } from '../../src/policy/failures/failure.ts';
import type { Caller } from '../../src/policy/spinning/heardCalls.ts';

/** An agent `coder` whose calls are heard, what is told of their repetition, and why it is ended. */
export function hearing(clock: Pick<Clock, 'now' | 'wallNow'>) {
  const told: FactOf<'session.spinning'>[] = [];
  const ends: FailureFacts[] = [];
  const tell = (fact: Fact): void => void (fact.type === 'session.spinning' && told.push(fact));
  const caller: Caller = {
    clock,
    facts: { tell } as Caller['facts'],
    integration: 'coder',
    session: () => undefined,
    end: (why) => ends.push(why),
  };
  return { caller, told, ends };
}
