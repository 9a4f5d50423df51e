import { expect, it } from 'vitest';
import { checkGatewayOptions } from '../src/gatewayOptions.ts';
import { createRuntime } from '../src/runtime.ts';
import { SimulatedClock } from '../src/testing/simulatedClock.ts';

it('[I-3] a runtime that is told to stop by who hears that it stops takes its steps once', async () => {
  const clock = new SimulatedClock();
  const owner = createRuntime(checkGatewayOptions({ clock }));
  await owner.start();
  let steps = 0;
  const first = (): void => {
    steps++;
    if (steps < 3) void owner.stop({ first });
  };
  const stopped = owner.stop({ first });
  await clock.advance(0);
  await stopped;
  expect(steps).toBe(1);
});
