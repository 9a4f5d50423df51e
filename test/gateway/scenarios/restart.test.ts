import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

it('[L-5] a session restarted by its id has a new incarnation and goes on', async () => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock });
  onTestFinished(() => gateway.stop());
  const taken: unknown[] = [];
  const session = gateway.session('agent:main', { onMessage: ({ text }) => void taken.push(text) });
  await gateway.start();
  gateway.restart('agent:main');
  await clock.settle();
  expect(gateway.tree().children).toMatchObject([{ id: 'session:agent:main', incarnation: 2, state: 'running' }]);
  void session.send({ kind: 'user', text: 'hi' });
  await clock.settle();
  expect(taken).toEqual(['hi']);
});

it('[L-5] [I-4] a turn that a restart by hand cuts off is said to be that, and no stall', async () => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock });
  onTestFinished(() => gateway.stop());
  gateway.integration('slow', {}, () => new Promise(() => undefined));
  const failures: unknown[] = [];
  gateway.on('session.tool_failed', ({ kind, message }) => void failures.push([kind, message]));
  const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('slow', 'query') });
  await gateway.start();
  void session.send({ kind: 'user' });
  await clock.settle();
  gateway.restart('agent:main');
  await clock.settle();
  expect(failures).toEqual([['cancelled', 'The session is restarted by hand']]);
});
