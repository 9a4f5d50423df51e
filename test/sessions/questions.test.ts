import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/policy/failures/failure.ts';
import type { Turn } from '../../src/sessions/turn.ts';
import { startSession } from '../support/startSession.ts';

/** A session whose turn asks a person, who answers by `answer`. */
function startAsking(overallMs?: number) {
  const outcomes: Outcome<unknown>[] = [];
  let answer: (value: unknown) => void = () => undefined;
  let signal: AbortSignal | undefined;
  const started = startSession({
    onMessage: async ({ kind }, turn) => {
      if (kind !== 'ask') return;
      const outcome = await turn.ask(
        'delete?',
        (given) => {
          signal = given;
          return new Promise((resolve) => (answer = resolve));
        },
        { overallMs },
      );
      outcomes.push(outcome);
    },
  });
  return { ...started, outcomes, answer: (value: unknown) => answer(value), aborted: () => signal?.aborted };
}

describe('a question to a person', () => {
  it('[G-14] is not ended by the watchdog of the turn', async () => {
    const { session, clock, outcomes, answer, facts } = startAsking();
    void session.send({ kind: 'ask' });
    await clock.advance(3_599_999);
    answer('yes');
    await clock.settle();
    expect(outcomes).toEqual([{ ok: true, value: 'yes' }]);
    expect(facts.of('session.watchdog_fired')).toEqual([]);
  });

  it('[G-14] [I-1] ends at its own deadline, and the session goes on', async () => {
    const { session, clock, outcomes, answer, facts, aborted } = startAsking(60_000);
    void session.send({ kind: 'ask' });
    await clock.advance(59_999);
    expect(outcomes).toEqual([]);
    await clock.advance(1);
    expect(outcomes).toMatchObject([{ ok: false, failure: { kind: 'timeout', outcome: 'failed' } }]);
    expect([aborted(), facts.of('session.question_failed')]).toMatchObject([
      true,
      [{ what: 'delete?', waitedMs: 60_000 }],
    ]);
    answer('too late');
    await clock.settle();
    expect(outcomes).toHaveLength(1);
  });

  it('[G-8] leaves the watchdog of the turn what it was, counted from the answer', async () => {
    let turn: Turn | undefined;
    const { session, clock, facts } = startSession({
      onMessage: async (_message, given) => {
        turn = given;
        await given.ask('delete?', () => 'at once');
        await new Promise(() => undefined);
      },
    });
    void session.send({ kind: 'ask' });
    await clock.advance(599_999);
    expect(facts.of('session.watchdog_fired')).toEqual([]);
    await clock.advance(1);
    expect([turn?.signal.aborted, facts.of('session.watchdog_fired')]).toMatchObject([true, [{ rule: 'turn' }]]);
  });

  it('[I-1] [I-3] ends with its turn, and is refused after it', async () => {
    const { session, clock, deadlines, outcomes, aborted } = startAsking();
    void session.send({ kind: 'ask' });
    await clock.settle();
    session.ended();
    await clock.settle();
    expect([aborted(), outcomes]).toMatchObject([true, [{ ok: false, failure: { kind: 'cancelled' } }]]);
    expect(deadlines.size).toBe(0);
  });

  it('[I-4] that throws is a failure in the outcome, recorded', async () => {
    const outcomes: unknown[] = [];
    const { session, clock, facts } = startSession({
      onMessage: async (_message, turn) => {
        outcomes.push(
          await turn.ask('delete?', () => {
            throw new Error('nobody there');
          }),
        );
      },
    });
    void session.send({ kind: 'ask' });
    await clock.settle();
    expect(outcomes).toMatchObject([{ ok: false, failure: { message: 'nobody there' } }]);
    expect(facts.of('session.question_failed')).toMatchObject([{ message: 'nobody there' }]);
  });
});
