import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { createBus } from '../../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const closed: Fact = { type: 'breaker.closed', integration: 'kb' };

/** Hears the channel of a type until the test is over. */
function hearChannel(type: string): unknown[] {
  const heard: unknown[] = [];
  const hear = (message: unknown): void => void heard.push(message);
  subscribe(`unwedge:${type}`, hear);
  onTestFinished(() => void unsubscribe(`unwedge:${type}`, hear));
  return heard;
}

describe('the channel of a fact', () => {
  it('[U-3] gets what listeners get, also without any', () => {
    const clock = new SimulatedClock();
    const bus = createBus({ clock });
    const heard = hearChannel('breaker.closed');
    bus.tell(closed);
    bus.tell({ type: 'breaker.half_opened', integration: 'kb' });
    expect(heard).toEqual([{ ...closed, at: clock.wallNow() }]);
  });

  it('[U-3] has its fact built only while somebody has subscribed', () => {
    let built = 0;
    const redact = <F>(fact: F): F => {
      built++;
      return fact;
    };
    const bus = createBus({ clock: new SimulatedClock(), redact });
    bus.tell(closed);
    expect([built, bus.wants('breaker.closed')]).toEqual([0, false]);
    hearChannel('breaker.closed');
    bus.tell(closed);
    expect([built, bus.wants('breaker.closed'), bus.wants('breaker.half_opened')]).toEqual([1, true, false]);
  });

  it('[O-8] gets the fact without secrets, as listeners do', () => {
    const bus = createBus({
      clock: new SimulatedClock(),
      redact: (fact) => ({ ...fact, integration: 'x' }) as typeof fact,
    });
    const heard = hearChannel('breaker.closed');
    bus.on('breaker.closed', (fact) => heard.push(fact));
    bus.tell(closed);
    expect(heard).toMatchObject([{ integration: 'x' }, { integration: 'x' }]);
  });

  it('[I-3] gets nothing of a bus that is closed', () => {
    const bus = createBus({ clock: new SimulatedClock() });
    const heard = hearChannel('breaker.closed');
    bus.close();
    bus.tell(closed);
    expect([heard, bus.wants('breaker.closed')]).toEqual([[], false]);
  });
});
