import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import type { IntegrationEvent } from '../../src/machines/integrationEvents.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';

/** The machine alone, after these events; nothing around it keeps an event from it. */
function snapshotAfter(...events: readonly IntegrationEvent[]) {
  const { breaker } = resolvePolicy('kb', {});
  const ref = createActor(integrationMachine, { input: { name: 'kb', breaker: { ...breaker, probes: 2 } } }).start();
  for (const event of events) ref.send(event);
  return ref.getSnapshot();
}

const stateAfter = (...events: readonly IntegrationEvent[]): unknown => snapshotAfter(...events).value;
const contextAfter = (...events: readonly IntegrationEvent[]) => snapshotAfter(...events).context;

const open: IntegrationEvent = { type: 'breaker.restore', openUntil: 1000, openings: 1 };
const paused = (until: number): IntegrationEvent => ({ type: 'integration.paused', until });
const probe = (at: number): IntegrationEvent => ({ type: 'probe.requested', at });
const answered = (generation: number): IntegrationEvent => ({ type: 'attempt.ignored', generation });

describe('the machine of an integration alone', () => {
  it('[M-2] [M-10] is probed from the moment at which its circuit is due, not before', () => {
    expect([stateAfter(open, probe(999)), stateAfter(open, probe(1000))]).toEqual(['open', 'half-open']);
  });

  it('[M-13] [M-10] is not probed while it is paused, though its circuit is due', () => {
    expect(stateAfter(open, paused(3000), probe(2999))).toBe('open');
    expect(stateAfter(open, paused(3000), probe(3000))).toBe('half-open');
  });

  it('[M-13] [M-10] keeps the later of two pauses', () => {
    expect(stateAfter(open, paused(3000), paused(2000), probe(2999))).toBe('open');
  });

  it('[M-3] [M-13] admits a second probe only when no pause has come with the first', () => {
    const probing = (...events: readonly IntegrationEvent[]): number => contextAfter(...events).probing;
    expect(probing(open, probe(1000), probe(1001))).toBe(2);
    expect(probing(open, probe(1000), paused(3000), probe(2999))).toBe(1);
    expect(probing(open, probe(1000), paused(3000), probe(3000))).toBe(2);
    expect(probing(open, probe(1000), answered(2))).toBe(0);
  });

  it('[M-8] [M-10] is not probed while it is isolated', () => {
    expect(stateAfter(open, { type: 'breaker.isolate' }, probe(5000))).toBe('open');
  });

  it('[M-10] [M-13] is lost once, and keeps a pause that came since, however often its loss is told', () => {
    const lost: IntegrationEvent = { type: 'integration.lost' };
    const once = contextAfter(lost, paused(3000));
    expect(once).toMatchObject({ generation: 1, pausedUntil: 3000 });
    expect(contextAfter(lost, paused(3000), lost)).toEqual(once);
  });

  it('[E-7] [M-10] opens and closes as another process does, and a probe of its own goes on', () => {
    const elsewhere: IntegrationEvent = { type: 'breaker.closed_elsewhere' };
    const calling: IntegrationEvent = { type: 'calls.changed', attempts: 1, waiting: 0 };
    const waiting: IntegrationEvent = { type: 'calls.changed', attempts: 0, waiting: 1 };
    expect([stateAfter(calling, open), stateAfter(waiting, open)]).toEqual(['open', 'open']);
    expect(stateAfter(open, elsewhere)).toBe('idle');
    expect(stateAfter(open, probe(1000), elsewhere)).toBe('half-open');
    expect(stateAfter(open, { ...open, openUntil: 2000 }, probe(1000))).toBe('open');
    const isolate: IntegrationEvent = { type: 'breaker.isolate' };
    expect(stateAfter(open, isolate, elsewhere)).toBe('open');
    expect(stateAfter(open, isolate, elsewhere, { type: 'breaker.release' })).toBe('idle');
  });

  it('[O-9] [M-10] has the rule that opened its circuit in its context, as it was kept too, until that closes', () => {
    const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
    const kept: IntegrationEvent = { ...open, rule };
    const failed: IntegrationEvent = {
      ...{ type: 'attempt.failed', generation: 0, at: 0, kind: 'transient' },
      tally: { consecutive: 1, failures: 10, total: 20 },
    };
    const isolate: IntegrationEvent = { type: 'breaker.isolate' };
    expect([contextAfter(failed).rule, contextAfter(kept).rule, contextAfter(kept, isolate).rule]).toEqual([
      rule,
      rule,
      rule,
    ]);
    expect(contextAfter(kept, probe(1000), { ...failed, generation: 2 }).rule).toEqual({
      name: 'failed_probe',
      first: rule,
    });
    expect(contextAfter(kept, { type: 'breaker.closed_elsewhere' }).rule).toBeUndefined();
    expect(contextAfter(kept, probe(1000), { type: 'attempt.answered', generation: 2 }).rule).toBeUndefined();
  });
});
