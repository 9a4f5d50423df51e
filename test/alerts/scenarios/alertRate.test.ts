import { describe, expect, it } from 'vitest';
import { AlertWatch } from '../../../src/alerts/alertWatch.ts';
import type { OpenAlert } from '../../../src/policy/records/alertRecord.ts';
import { type AlertRules, checkAlertRules } from '../../../src/policy/alerts.ts';
import { type CallFigures, type CallFiguresRow, noFigures } from '../../../src/policy/records/callFigures.ts';
import type { FactOf } from '../../../src/policy/facts/facts.ts';
import { createBus } from '../../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { timedOut } from '../timedOut.ts';

const minute = 60_000;
const usual: AlertRules = { successBelow: 0.9 };

interface Given {
  readonly rules?: AlertRules;
  readonly open?: readonly OpenAlert[];
  readonly figures?: readonly CallFiguresRow[];
  readonly clock?: SimulatedClock;
}

function startWatch({ rules = usual, open = [], figures = [], clock = new SimulatedClock() }: Given = {}) {
  const bus = createBus({ clock });
  const facts: FactOf<'alert.raised' | 'alert.cleared'>[] = [];
  bus.on('alert.raised', (fact) => facts.push(fact));
  bus.on('alert.cleared', (fact) => facts.push(fact));
  const heard = new Set<(rows: readonly CallFiguresRow[]) => void>();
  const watch = new AlertWatch({
    clock,
    bus,
    ruleOf: checkAlertRules('alerts', rules),
    origin: () => ({ host: 'web-1', pid: 1, gateway: 'gateway.mjs' }),
    newId: () => 'alert-1',
    statistics: { onKept: (hear) => (heard.add(hear), () => heard.delete(hear)) },
  });
  watch.start(undefined, open, [], figures);
  const count = (more: Partial<CallFigures>, integration = 'kb'): void => {
    const row = { ...noFigures, integration, tool: undefined, minute: clock.wallNow(), ...more };
    for (const hear of heard) hear([row, { ...row, tool: 'read' }]);
  };
  const told = (): string[] =>
    facts.map((fact) => (fact.type === 'alert.raised' ? `raised: ${fact.message}` : `cleared: ${fact.by}`));
  return { clock, bus, watch, facts, count, told, heard };
}

describe('alerts by rate', () => {
  it('[O-10] are raised below the rate, with what it is, and cleared when it is high enough again', async () => {
    const { clock, count, facts, told } = startWatch();
    count({ succeeded: 90, failed: { timeout: 10 } });
    expect(told()).toEqual([]);
    count({ failed: { timeout: 1 } });
    expect(facts).toMatchObject([
      { type: 'alert.raised', integration: 'kb', because: 'rate', failures: 11, crashes: 0, kind: 'timeout' },
    ]);
    expect(told()).toEqual(['raised: Success rate 89.1 % of 101 calls within 10m, below 90 %; most failed by timeout']);
    await clock.advance(minute);
    count({ succeeded: 8 });
    expect(told()).toHaveLength(1);
    count({ succeeded: 1 });
    await clock.settle();
    expect(told()).toEqual([expect.any(String), 'cleared: recovered']);
    expect(facts[1]).toMatchObject({ alert: 'alert-1', afterMs: minute });
  });

  it('[O-10] are cleared when the last failure has left the window, also where nobody calls any more', async () => {
    const { clock, count, told } = startWatch({ rules: { successBelow: 0.9, windowMs: '5m', quietMs: '1h' } });
    count({ failed: { transient: 20 } });
    await clock.advance(5 * minute - 1);
    expect(told()).toHaveLength(1);
    await clock.advance(1);
    expect(told()[1]).toBe('cleared: recovered');
  });

  it('[O-10] need so many calls within the window, and are off unless they are asked for', async () => {
    const { clock, count, told } = startWatch({ rules: { successBelow: 0.5, minCalls: 4 } });
    count({ failed: { transient: 2 } });
    await clock.advance(10 * minute);
    count({ succeeded: 1, failed: { transient: 2 } });
    expect(told()).toEqual([]);
    count({ failed: { transient: 1 } });
    expect(told()).toHaveLength(1);

    const off = startWatch({ rules: {} });
    off.count({ failed: { timeout: 1000 } });
    expect(off.told()).toEqual([]);
  });

  it('[O-10] count the failures that alerts count: not those of callers', () => {
    const { count, told } = startWatch({ rules: { successBelow: 1 } });
    count({ succeeded: 100, failed: { permanent: 50, cancelled: 50 }, refused: 50 });
    expect(told()).toEqual([]);
    count({ failed: { rate_limit: 1 } });
    expect(told()).toHaveLength(1);
  });

  it('[O-10] have the thresholds of their integration', () => {
    const { count, told } = startWatch({
      rules: { successBelow: 0.99, integrations: { batch: { successBelow: 0.5 }, quiet: { successBelow: 0 } } },
    });
    for (const name of ['batch', 'quiet']) count({ succeeded: 60, failed: { timeout: 40 } }, name);
    expect(told()).toEqual([]);
    count({ failed: { timeout: 40 } }, 'batch');
    expect(told()).toHaveLength(1);
  });

  it('[O-10] outlive a circuit that closes and a quiet time, and one by count lasts until the rate is high enough', async () => {
    const { watch, bus, clock, count, told } = startWatch({ rules: { successBelow: 0.9, windowMs: '1h' } });
    for (let call = 0; call < 5; call++) bus.tell(timedOut);
    expect(told()).toEqual(['raised: boom']);
    count({ succeeded: 20, failed: { timeout: 5 } });
    expect(watch.open).toMatchObject([{ integration: 'kb', isLow: true }]);
    bus.tell({ type: 'breaker.closed', integration: 'kb' });
    await clock.advance(59 * minute);
    expect(told()).toHaveLength(1);
    await clock.advance(minute);
    expect(told()[1]).toBe('cleared: quiet');
  });

  it('[O-10] [O-3] do not hold one by count open for fewer calls than would raise one', async () => {
    const { watch, bus, clock, count, told } = startWatch({ rules: { successBelow: 0.9, windowMs: '1h' } });
    for (let call = 0; call < 5; call++) bus.tell(timedOut);
    count({ succeeded: 1, failed: { timeout: 5 } });
    expect(watch.open).toMatchObject([{ integration: 'kb' }]);
    expect(watch.open[0]).not.toHaveProperty('isLow');
    bus.tell({ type: 'breaker.closed', integration: 'kb' });
    await clock.settle();
    expect(told()).toEqual(['raised: boom', 'cleared: closed']);
  });

  it('[O-10] go on over a restart with what is on record', async () => {
    const clock = new SimulatedClock();
    const at = clock.wallNow() - minute;
    const old: OpenAlert = {
      id: 'old',
      integration: 'kb',
      because: 'rate',
      kind: 'timeout',
      message: 'low',
      failures: 11,
      crashes: 0,
      raisedAt: at,
      lastFailureAt: at,
    };
    const row = {
      ...noFigures,
      integration: 'kb',
      tool: undefined,
      minute: at,
      succeeded: 89,
      failed: { timeout: 11 },
    };
    const { count, told } = startWatch({ clock, open: [old], figures: [row] });
    count({ succeeded: 5 });
    expect(told()).toEqual([]);
    count({ succeeded: 5 });
    await clock.settle();
    expect(told()).toEqual(['cleared: recovered']);
  });

  it('[O-10] end with the watch', () => {
    const { watch, heard } = startWatch();
    watch.stop();
    expect(heard.size).toBe(0);
  });

  it.each([
    [{ successBelow: 1.5 }, /alerts\.successBelow.*1\.5/],
    [{ minCalls: 0 }, /alerts\.minCalls.*0/],
  ])('[O-10] refuse %j', (rules, message) => {
    expect(() => checkAlertRules('alerts', rules)).toThrow(message);
  });
});
