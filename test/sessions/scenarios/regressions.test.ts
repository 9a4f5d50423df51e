import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import { isSettled } from '../../support/deferred.ts';
import { ReactingFacts } from '../../support/reactingFacts.ts';
import { fault } from '../../support/startIntegration.ts';
import { startSession } from '../../support/startSession.ts';

const never = (): Promise<never> => new Promise(() => undefined);

async function processed(acceptance: Promise<Acceptance>) {
  const accepted = await acceptance;
  if (!accepted.accepted) throw new Error(`refused: ${accepted.reason}`);
  return accepted.processed;
}

/** A session whose turns hang, and the turns it began. */
function startHanging(facts = new ReactingFacts()) {
  const turns: Turn[] = [];
  const started = startSession(
    {
      onMessage: (_message, turn) => {
        turns.push(turn);
        return never();
      },
    },
    facts,
  );
  return { ...started, facts, turns };
}

describe('a turn that is taken from its handler', () => {
  it('[G-8] [R-8] tells it to end when the session starts anew', async () => {
    const { session, clock, turns, incarnate } = startHanging();
    void session.send({ kind: 'user' });
    await clock.settle();
    incarnate();
    expect(turns[0]?.signal.aborted).toBe(true);
  });

  it('[I-3] tells it to end when the session is gone for good', async () => {
    const { session, clock, turns, deadlines } = startHanging();
    void session.send({ kind: 'user' });
    await clock.settle();
    session.ended();
    expect(turns[0]?.signal.aborted).toBe(true);
    expect(deadlines.size).toBe(0);
  });

  it('[G-8] says that its recovery failed when the session had to start anew for it', async () => {
    const { session, clock, facts, incarnate } = startHanging();
    void session.send({ kind: 'user' });
    await clock.advance(602_000);
    incarnate();
    expect(facts.of('session.recovery_failed')).toMatchObject([{ turn: 1, afterMs: 2000 }]);
  });

  it('[G-8] says nothing of a recovery when there was none', async () => {
    const { session, clock, facts, incarnate } = startHanging();
    void session.send({ kind: 'user' });
    await clock.settle();
    incarnate();
    expect(facts.of('session.recovery_failed')).toEqual([]);
  });

  it('[G-8] begins no tool call while its calls are being ended', async () => {
    const { session, clock, facts, turns, tool } = startHanging();
    let begun = 0;
    tool('kb', () => {
      begun++;
      return never();
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    void turns[0]?.tool('kb', 'query');
    let second: Promise<ToolResult> | undefined;
    facts.once('session.tool_failed', () => {
      second = turns[0]?.tool('kb', 'query');
    });
    session.ended();
    expect(await second).toMatchObject({ synthetic: true, outcome: 'not_started' });
    expect(begun).toBe(1);
  });
});

describe('what a message that was never processed ends with', () => {
  it('[G-13] says so when the session stops', async () => {
    const { session, clock } = startHanging();
    void session.send({ kind: 'user' });
    const waiting = processed(session.send({ kind: 'user' }));
    await clock.settle();
    session.stop();
    expect(await waiting).toMatchObject({ failure: { outcome: 'not_started', attempts: 0 } });
  });
});

describe('a message that is refused', () => {
  it('[I-4] is told anew when the reason is another', async () => {
    const { session, clock, facts } = startHanging();
    void session.send({ kind: 'user' });
    await clock.settle();
    for (let index = 0; index < 1002; index++) void session.send({ kind: 'user' });
    session.stop();
    await session.send({ kind: 'user' });
    expect(facts.of('session.refused').map(({ reason, refused }) => [reason, refused])).toEqual([
      ['mailbox_full', 0],
      ['stopped', 1],
    ]);
  });

  it('that is none is refused at once, as a misuse', () => {
    const { session } = startHanging();
    expect(() => void session.send({} as never)).toThrow(TypeError);
  });
});

describe('a tool call of a session', () => {
  function startCaller(facts = new ReactingFacts()) {
    const results: ToolResult[] = [];
    const started = startSession(
      {
        onMessage: async (_message, turn) => {
          results.push(await turn.tool('kb', 'query'));
        },
      },
      facts,
    );
    return { ...started, results };
  }

  it('[G-13] [G-6] ended by the watchdog while it waited for a restart was not started', async () => {
    const { session, clock, tool, results } = startCaller();
    const path = tool('kb', () => 'found', { policy: { restartWaitMs: 1e9 } });
    path.crashed(fault('crash').facts);
    void session.send({ kind: 'user' });
    await clock.advance(300_000);
    expect(results).toMatchObject([{ kind: 'watchdog', outcome: 'not_started', attempts: 0 }]);
  });

  it('[G-13] [G-6] ended by the watchdog in its backoff says how often it was tried', async () => {
    const { session, clock, tool, results } = startCaller();
    const path = tool('kb', () => Promise.reject(fault('transient')), { policy: { repeatWaitMs: 1e9 } });
    void session.send({ kind: 'user' });
    await clock.settle();
    path.crashed(fault('crash').facts);
    await clock.advance(300_000);
    expect(results).toMatchObject([{ kind: 'watchdog', outcome: 'unknown', attempts: 1 }]);
  });

  it('[R-8] whose signal is none is a misuse, and names it', () => {
    const turns: Turn[] = [];
    const { session, clock } = startSession({ onMessage: (_message, turn) => turns.push(turn) });
    void session.send({ kind: 'user' });
    return clock.settle().then(() => {
      const options = { signal: 'no signal' } as never;
      expect(() => turns[0]?.tool('kb', 'query', {}, options)).toThrow(
        'Expected `options.signal` to be an AbortSignal',
      );
    });
  });

  it('[I-1] [I-3] leaves nothing behind when a listener ends the session in the middle of it', async () => {
    const facts = new ReactingFacts();
    const { session, clock, tool, results, deadlines } = startCaller(facts);
    const path = tool('kb', () => Promise.reject(fault('transient')), { policy: { repeatWaitMs: 1e9 } });
    facts.once('call.retried', () => session.ended());
    const done = processed(session.send({ kind: 'user' }));
    await clock.settle();
    expect(await isSettled(done)).toBe(true);
    expect(results).toMatchObject([{ synthetic: true, kind: 'cancelled' }]);
    expect([deadlines.size, path.stats.waiting]).toEqual([0, 0]);
  });
});
