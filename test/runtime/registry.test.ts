import { expect, it } from 'vitest';
import { Registry } from '../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

it('[I-3] a registry that is told to stop by a part that hears of its stop takes its steps once', async () => {
  const clock = new SimulatedClock();
  const registry = new Registry(checkGatewayOptions({ clock }));
  await registry.start();
  let steps = 0;
  registry.join({
    beforeCalls() {
      steps++;
      if (steps < 3) void registry.stop();
    },
  });
  const stopped = registry.stop();
  await clock.advance(0);
  await stopped;
  expect(steps).toBe(1);
});

it('[I-3] a registry stops watchers first, then sessions, then what makes calls, then calls, then children', async () => {
  const clock = new SimulatedClock();
  const registry = new Registry(checkGatewayOptions({ clock }));
  const steps: string[] = [];
  const note = (step: string) => () => void steps.push(step);
  const path = { name: 'kb', stop: note('calls') } as unknown as Parameters<typeof registry.runtime.enter>[0];
  const session = { id: 'main', stop: note('session closes'), ended: note('session ended') };
  registry.join({
    afterChildren: note('after children'),
    afterCalls: note('after calls'),
    beforeCalls: note('before calls'),
    beforeSessions: note('before sessions'),
  });
  registry.runtime.enter(path);
  registry.addSession(session as unknown as Parameters<typeof registry.addSession>[0]);
  await registry.start();
  await registry.stop();
  expect(steps).toEqual([
    'before sessions',
    'session closes',
    'before calls',
    'calls',
    'after calls',
    'session ended',
    'after children',
  ]);
});

it('[I-3] a part that has left a registry takes no step of its stop', async () => {
  const registry = new Registry(checkGatewayOptions({ clock: new SimulatedClock() }));
  const steps: string[] = [];
  registry.join({ beforeSessions: () => void steps.push('stays') });
  const leave = registry.join({ beforeSessions: () => void steps.push('has left') });
  leave();
  await registry.start();
  await registry.stop();
  expect(steps).toEqual(['stays']);
});

it('[G-16] a registry that opens its store later has it from its start on where a policy has a budget', async () => {
  for (const [budget, isOpen] of [
    [{ day: { requests: 8 } }, true],
    [undefined, false],
  ] as const) {
    const policies = { integrations: { kb: { budget } } };
    const registry = new Registry(checkGatewayOptions({ clock: new SimulatedClock(), store: ':memory:', policies }));
    await registry.start({ storeLater: true });
    expect(registry.runtime.store() !== undefined).toBe(isOpen);
    await registry.stop();
  }
});
