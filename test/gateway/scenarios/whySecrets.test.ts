import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** Built from parts, so that scanners of this repository do not take them for real. */
const key = ['sk', 'ant', 'api03', 'aB3x7890aB3x7890aB3x7890'].join('-');

it('[O-8] the why of a session has no secret of an error or a name, and its rules can be fired as it shows them', async () => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  gateway.integration('kb', { effect: 'readOnly' }, () => {
    throw new AttemptError({ kind: 'transient', message: `refused: Bearer ${key}`, outcome: 'failed' });
  });
  const session = gateway.session(`agent ${key}`, { onMessage: (_, turn) => turn.tool('kb', 'read', {}) });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  void session.send({ kind: 'user', text: 'go' });
  await clock.advance(50);
  const why = session.why();
  expect(why.calls[0]?.progress?.lastFailure?.message).toContain('refused: ');
  expect(JSON.stringify(why)).not.toContain(key);
  expect(why).toEqual(gateway.why(`agent ${key}`));
  const next = why.rules.find(({ rule }) => rule === 'next_attempt')?.id ?? '';
  expect(session.fire(next)).toMatchObject({ ok: true });
  await clock.advance(1);
  expect(session.why().calls[0]?.progress?.attempt).toBe(2);
  expect(session.cancel(why.calls[0]?.call)).toMatchObject({ ok: true });
});
