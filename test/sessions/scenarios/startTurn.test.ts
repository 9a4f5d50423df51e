import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { DeadlineQueue } from '../../../src/calls/deadlineQueue.ts';
import { sessionMachine } from '../../../src/machines/session.ts';
import { checkToolCallRetry } from '../../../src/policy/toolCallRetry.ts';
import { SupervisedSession } from '../../../src/sessions/supervisedSession.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { createToolPort } from '../../../src/sessions/toolPort.ts';
import { ReactingFacts } from '../../support/reactingFacts.ts';

describe('a turn', () => {
  it('[I-1] [I-3] does not begin any more when who hears of it closes the session', async () => {
    const clock = new SimulatedClock();
    const facts = new ReactingFacts();
    const tools = createToolPort(new Map(), checkToolCallRetry(), clock);
    const messages: string[] = [];
    const session = new SupervisedSession(
      { id: 'agent:main', clock, deadlines: new DeadlineQueue(clock), facts, tools },
      { onMessage: ({ kind }) => messages.push(kind) },
    );
    session.attach(createActor(sessionMachine, { input: { session: 'agent:main', ...session.limits } }).start(), 1);
    facts.once('session.turn_started', () => session.stop());
    const acceptance = await session.send({ kind: 'user' });
    await clock.settle();
    expect(messages).toEqual([]);
    const outcome = acceptance.accepted ? await acceptance.processed : undefined;
    expect(outcome).toMatchObject({ ok: false, failure: { reason: 'stopped' } });
  });
});
