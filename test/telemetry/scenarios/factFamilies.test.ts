import { describe, expect, it } from 'vitest';
import { familyOf } from '../../../src/policy/facts/factFamilies.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { factTypes } from '../../../src/policy/facts/factTypes.ts';
import { storedEvent } from '../../../src/store/record.ts';
import { createBus } from '../../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const fact = (backend: string): Fact => ({
  type: `workflow.${backend}.started`,
  workflow: 'w',
  run: 'r',
  session: undefined,
  backend,
});

const startBus = () => createBus({ clock: new SimulatedClock(), types: factTypes });

describe('the events that backends have each their own of', () => {
  it.each([
    ['workflow.primary.started', 'workflow.*.started'],
    ['workflow.a-b_1.item_error', 'workflow.*.item_error'],
    ['workflow.primary.begun', undefined],
    ['workflow..started', undefined],
    ['workflow.started', undefined],
    ['workflow_fallback', undefined],
    ['session.started', undefined],
  ])('[W-6] %s is of the family %s', (type, family) => {
    expect(familyOf(type)).toBe(family);
  });

  it('[W-6] [O-4] are heard by their own name, by the family, and with all others', () => {
    const bus = startBus();
    const heard: string[] = [];
    bus.on('workflow.primary.started', ({ backend }) => heard.push(`own ${backend}`));
    bus.on('workflow.*.started', ({ backend }) => heard.push(`family ${backend}`));
    bus.on('*', ({ type }) => heard.push(type));
    bus.tell(fact('primary'));
    bus.tell(fact('other'));
    expect(heard).toEqual([
      'own primary',
      'family primary',
      'workflow.primary.started',
      'family other',
      'workflow.other.started',
    ]);
  });

  it('[W-6] are wanted by who listens to the family', () => {
    const bus = startBus();
    expect(bus.wants('workflow.primary.started')).toBe(false);
    const off = bus.on('workflow.*.started', () => undefined);
    expect([bus.wants('workflow.primary.started'), bus.wants('workflow.primary.failed')]).toEqual([true, false]);
    off();
    expect(bus.wants('workflow.primary.started')).toBe(false);
  });

  it('[O-4] are waited for by the name of a backend', async () => {
    const bus = startBus();
    const next = bus.wait('workflow.other.started');
    bus.tell(fact('primary'));
    bus.tell(fact('other'));
    expect(await next).toMatchObject({ backend: 'other' });
  });

  it('[O-4] are no event when misspelt', () => {
    const misspelt: string = 'workflow.primary.startet';
    expect(() => startBus().on(misspelt as 'workflow.primary.started', () => undefined)).toThrow('Unknown event');
  });

  it('[W-7] [R-10] are on record as one type; of failed attempts of an item the last alone', () => {
    const of = { workflow: 'w', run: 'r', session: undefined, backend: 'b', item: 'i', action: 'a' };
    const needs = {
      kind: 'transient',
      error: 'e',
      tools: [],
      servers: [],
      dependencies: [],
      attempt: 1,
      maxAttempts: 3,
    } as const;
    const error = (final: boolean) => storedEvent({ type: 'workflow.b.item_error', ...of, ...needs, final, at: 0 });
    expect(error(false)).toBeUndefined();
    expect(error(true)).toMatchObject({
      category: 'workflow',
      eventType: 'item_error',
      metadata: { item: 'i', max_attempts: 3 },
    });
    expect(storedEvent({ ...fact('b'), at: 0 })).toMatchObject({ category: 'workflow', eventType: 'started' });
  });
});
