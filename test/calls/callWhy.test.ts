import { describe, expect, it } from 'vitest';
import { type InnerLimit, innerLimitsOf, tellInnerLimits } from '../../src/calls/callWhy.ts';
import type { AttemptContext } from '../../src/calls/operation.ts';
import { startSession } from '../support/startSession.ts';

const note = { by: 'anna', why: 'it hangs' };

/** A turn whose call waits for something that has limits of its own, the nearer in 5 s. */
async function startWaiting() {
  const started = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
  const { session, clock, tool } = started;
  const limits: InnerLimit[] = [
    { of: 'claude', rule: 'idle_timeout', due: clock.now() + 5000 },
    { of: 'claude', rule: 'attempt_timeout', due: clock.now() + 9000 },
  ];
  const calls: object[] = [];
  tool('kb', (_input: unknown, context: AttemptContext) => {
    calls.push(context.call);
    tellInnerLimits(context.call, () => limits);
    return new Promise(() => undefined);
  });
  await session.send({ kind: 'user' });
  await clock.advance(1000);
  const rules = () => session.why().rules.map(({ id, rule, of, inMs }) => ({ id, rule, of, inMs }));
  return { ...started, limits, calls, rules };
}

describe('limits of what a call waits for', () => {
  it('[L-5] are named with whose they are, the nearest as what comes next', async () => {
    const { session, rules, calls, limits } = await startWaiting();
    expect(session.why().next).toMatchObject({
      rule: 'idle_timeout',
      of: 'claude',
      inMs: 4000,
      call: 'agent:main-1-1',
    });
    expect(rules()[0]).toMatchObject({ rule: 'idle_timeout', of: 'claude' });
    expect(innerLimitsOf(calls[0] ?? {})).toBe(limits);
    expect(innerLimitsOf({})).toEqual([]);
  });

  it('[L-5] [O-13] are not fired as one of the call, which goes on and can be cancelled', async () => {
    const { session, facts, rules } = await startWaiting();
    const [next] = rules();
    expect(session.fire(next?.id ?? '', note)).toEqual({
      ok: false,
      text: 'It is a limit of claude, which may try again: the call can be cancelled instead.',
    });
    expect(facts.of('operator.fired')).toEqual([]);
    expect(facts.of('session.tool_failed')).toEqual([]);
    expect(rules()[0]).toEqual(next);
    expect(session.cancel('agent:main-1-1', note)).toMatchObject({ ok: true });
  });

  it('[L-5] [O-13] that are over no longer keep a limit of the call from being fired', async () => {
    const { session, clock, limits, rules, facts } = await startWaiting();
    limits.length = 0;
    const [next] = rules();
    expect(next).toMatchObject({ rule: 'idle_timeout', of: undefined });
    expect(session.fire(next?.id ?? '', note).ok).toBe(true);
    await clock.settle();
    expect(facts.of('operator.fired')).toMatchObject([{ rule: 'idle_timeout' }]);
  });
});
