import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { SimulatedClock } from '../../src/testing/simulatedClock.ts';

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
