import { describe, expect, it } from 'vitest';
import { ruleText } from '../../../cli/whyText.ts';
import { startSession } from '../../support/startSession.ts';

const never = (): Promise<never> => new Promise(() => undefined);

async function startStuck() {
  const started = startSession({ onMessage: never });
  const { session, clock, facts, incarnate } = started;
  const ref = incarnate();
  const accepted = await session.send({ kind: 'user' });
  if (!accepted.accepted) throw new Error(accepted.reason);
  await clock.advance(1000);
  const told = (type: string) => facts.all.filter((fact) => fact.type === type);
  return { ...started, processed: accepted.processed, told, ref };
}

const release = { id: 'turn-1:release', rule: 'release', inMs: 3000, what: 'turn 1' } as const;

describe('a turn that was told to end', () => {
  it.each(['cancelled', 'fired'])(
    '[L-5] [O-13] when it was %s waits for its release, and for no watchdog',
    async (how) => {
      const { session, clock } = await startStuck();
      if (how === 'cancelled') session.cancel(undefined, { by: 'anna' });
      else session.fire('turn-1', { by: 'anna' });
      await clock.advance(2000);
      expect(session.why()).toMatchObject({ state: 'releasing', rules: [release], next: release });
      expect(ruleText(release)).toBe('turn 1, which was told to end, is left behind');
      await clock.advance(3000);
      expect(session.why()).toMatchObject({ state: 'idle', rules: [] });
    },
  );

  it('[L-5] [O-13] is left behind at once where an operator fires that', async () => {
    const { session, clock, processed, told } = await startStuck();
    session.cancel(undefined, { by: 'anna' });
    await clock.advance(2000);
    expect(session.fire('turn-1')).toMatchObject({ ok: false });
    expect(session.fire('turn-1:release', { by: 'anna' })).toEqual({
      ok: true,
      text: 'Turn 1 of session agent:main was left behind; the session goes on.',
    });
    expect(await processed).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'by_operator' } });
    expect(session.state).toBe('idle');
    expect(told('operator.fired')).toMatchObject([{ rule: 'release', what: 'turn 1', inMs: 3000, by: 'anna' }]);
    await clock.advance(60_000);
    expect(session.state).toBe('idle');
  });

  it('[L-5] [O-13] by a restart names the operator, and is no failed turn of the watchdog', async () => {
    const { session, clock, processed, told, ref } = await startStuck();
    session.restarting({ by: 'anna', why: 'it hangs' });
    ref.send({ type: 'shutdown' });
    expect(session.why()).toMatchObject({ state: 'closing', next: { rule: 'release', inMs: 5000 } });
    await clock.advance(5000);
    expect(await processed).toMatchObject({
      failure: {
        kind: 'cancelled',
        reason: 'by_operator',
        message: 'The session was restarted by an operator (anna): it hangs',
      },
    });
    expect(told('session.turn_failed')).toEqual([]);
    expect(told('session.watchdog_fired')).toEqual([]);
  });

  it('[L-5] [O-13] keeps its session from being shut down no longer than its release takes', async () => {
    const { session, clock, ref } = await startStuck();
    session.cancel(undefined, { by: 'anna' });
    await clock.advance(2000);
    ref.send({ type: 'shutdown' });
    expect(session.state).toBe('closing');
    await clock.advance(5000);
    expect(ref.getSnapshot().status).toBe('done');
  });
});
