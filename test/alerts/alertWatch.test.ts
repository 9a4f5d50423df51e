import { describe, expect, it } from 'vitest';
import type { AlertRecords, Cleared, OpenAlert } from '../../src/policy/records/alertRecord.ts';
import { checkAlertRules } from '../../src/policy/alerts.ts';
import type { FactOf, FactType } from '../../src/policy/facts/facts.ts';
import type { FailureKind } from '../../src/policy/failures/failure.ts';
import { AlertWatch } from '../../src/alerts/alertWatch.ts';
import type { EarlierIncident } from '../../src/alerts/incident.ts';
import type { Refusing } from '../../src/alerts/outages.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { timeout } from './timedOut.ts';

const minute = 60_000;
const origin = { host: 'web-1', pid: 4711, gateway: 'gateway.mjs', database: '/srv/a b.sqlite' } as const;
const rules = { integrations: { quick: { failures: 2, crashes: 2 }, silent: false } } as const;

interface Given {
  readonly open?: readonly OpenAlert[];
  readonly records?: AlertRecords | undefined;
  readonly earlier?: readonly EarlierIncident[];
  readonly clock?: SimulatedClock;
}

function startWatch({ records, open = [], earlier = [], clock = new SimulatedClock() }: Given = {}) {
  const bus = createBus({ clock });
  const told: string[] = [];
  const facts: FactOf<'alert.raised' | 'alert.cleared'>[] = [];
  bus.on('alert.raised', (fact) => facts.push(fact) && told.push(`raised ${fact.integration}`));
  bus.on('alert.cleared', (fact) => facts.push(fact) && told.push(`cleared ${fact.integration} ${fact.by}`));
  let ids = 0;
  const refusals = new Map<string, Refusing>();
  const watch = new AlertWatch({
    clock,
    bus,
    ruleOf: checkAlertRules('alerts', rules),
    origin: () => origin,
    newId: () => `alert-${++ids}`,
    refusing: (integration) => refusals.get(integration),
  });
  watch.start(records, open, earlier);
  const fail = (times: number, integration = 'kb', kind: FailureKind = 'timeout'): void => {
    for (let time = 0; time < times; time++) {
      const failure = { kind, message: 'boom', outcome: 'unknown', integration, attempts: 4, retryable: true } as const;
      bus.tell({ type: 'call.failed', integration, call: 'kb-1', failure, retryCount: 3, elapsedMs: 5 });
    }
  };
  const crash = (times: number, integration = 'kb'): void => {
    for (let time = 0; time < times; time++) {
      bus.tell({ type: 'integration.crashed', integration, message: 'exited with code 3' });
    }
  };
  const close = (): void => bus.tell({ type: 'breaker.closed', integration: 'kb' });
  return { bus, clock, watch, told, facts, refusals, fail, crash, close };
}

/** Records of a store that answers as it is told. */
function fakeRecords(given: { first?: OpenAlert; cleared?: Cleared; isOpen?: boolean } = {}) {
  const asked: string[] = [];
  const records: AlertRecords = {
    open: () => Promise.resolve([]),
    async raise(alert) {
      asked.push(`raise ${alert.id}`);
      return given.first ?? alert;
    },
    async extend(integration, cause) {
      asked.push(cause === 'failures' ? `extend ${integration}` : `extend ${integration} by a crash`);
      return given.isOpen ?? true;
    },
    async clear(id, by) {
      asked.push(`clear ${id} ${by}`);
      return given.cleared ?? { is: 'cleared', failures: 9, crashes: 0 };
    },
  };
  return { records, asked, given };
}

const open = (clock: SimulatedClock, more: Partial<OpenAlert> = {}): OpenAlert => ({
  id: 'old',
  integration: 'kb',
  because: 'failures',
  kind: 'timeout',
  message: 'boom',
  failures: 7,
  crashes: 0,
  raisedAt: clock.wallNow() - 5 * minute,
  lastFailureAt: clock.wallNow() - 4 * minute,
  ...more,
});

describe('an alert', () => {
  it('[G-15] [O-3] counts a turn that ended as it was spinning, and no word on it before', () => {
    const { bus, told, facts } = startWatch();
    const spins = (step: 'tell' | 'end', turn?: number) =>
      bus.tell({
        ...{ type: 'session.spinning', session: 's', turn, integration: 'quick', tool: 'edit', step, count: 20 },
        ...{ form: 'failure', message: 'edit was called 20 times', answer: 'no' },
      });
    for (let each = 0; each < 5; each++) spins('tell', each);
    // A run that ends by it is a call that failed, which counts already.
    for (let each = 0; each < 5; each++) spins('end');
    spins('end', 1);
    expect(told).toEqual([]);
    spins('end', 2);
    expect(told).toEqual(['raised quick']);
    expect(facts).toMatchObject([{ because: 'failures', kind: 'spinning', message: 'edit was called 20 times' }]);
  });

  it('[O-3] is not raised for an open circuit where alerts are switched off', async () => {
    const { bus, clock, told, refusals } = startWatch();
    for (const integration of ['silent', 'kb']) {
      refusals.set(integration, {
        refused: 3,
        because: { now: 'its circuit is open', until: 'its circuit has closed' },
      });
      bus.tell({ type: 'breaker.opened', integration, openForMs: 30_000, kind: 'transient', cause: 'down' });
    }
    await clock.advance(600_000);
    expect(told).toEqual(['raised kb']);
  });

  it('[O-3] is raised by the fifth final failure, once for the episode', () => {
    const { told, facts, fail } = startWatch();
    fail(4);
    expect(told).toEqual([]);
    fail(20);
    expect(facts).toMatchObject([
      { alert: 'alert-1', integration: 'kb', failures: 5, windowMs: 10 * minute, kind: 'timeout', message: 'boom' },
    ]);
    expect(facts).toMatchObject([{ ...origin, quietMs: 10 * minute, next: "unwedge why kb --db '/srv/a b.sqlite'" }]);
  });

  it('[O-3] counts each integration by itself, by its own thresholds', () => {
    const { told, fail } = startWatch();
    fail(4, 'kb');
    fail(1, 'search');
    fail(2, 'quick');
    fail(9, 'silent');
    expect(told).toEqual(['raised quick']);
  });

  it.each(['permanent', 'cancelled', 'circuit_open', 'too_many_requests', 'unavailable'] as const)(
    '[O-3] is not raised by failures of kind %s, which say nothing of the integration',
    (kind) => {
      const { told, fail } = startWatch();
      fail(9, 'kb', kind);
      expect(told).toEqual([]);
    },
  );

  it('[O-3] is cleared 10 min after the last failure, not before', async () => {
    const { told, facts, fail, clock } = startWatch();
    fail(5);
    await clock.advance(9 * minute);
    fail(1);
    await clock.advance(10 * minute - 1);
    expect(told).toEqual(['raised kb']);
    await clock.advance(1);
    expect(facts[1]).toMatchObject({ alert: 'alert-1', by: 'quiet', failures: 6, afterMs: 19 * minute });
  });

  it('[O-3] is cleared when a probe closes the circuit', async () => {
    const { told, fail, close, clock } = startWatch();
    fail(5);
    await clock.advance(minute);
    close();
    await clock.settle();
    expect(told).toEqual(['raised kb', 'cleared kb closed']);
    await clock.advance(60 * minute);
    expect(told).toHaveLength(2);
  });

  it('[O-3] is raised anew in the next episode, which counts from the start', async () => {
    const { told, fail, close, clock } = startWatch();
    fail(4);
    close();
    fail(5);
    await clock.advance(10 * minute);
    fail(4);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
    fail(1);
    expect(told.at(-1)).toBe('raised kb');
  });

  it('[O-3] [I-3] leaves no timer and no listener when the watch is stopped', () => {
    const { bus, clock, watch, fail } = startWatch();
    fail(5);
    watch.stop();
    const heard = ['call.failed', 'hook.failed', 'integration.crashed', 'integration.restart_failed', 'breaker.closed'];
    expect([clock.pending, ...(heard as FactType[]).filter(bus.wants)]).toEqual([0]);
  });

  it('[O-3] [G-6] counts no failure that our own stalled event loop may have caused', () => {
    const { bus, told, fail } = startWatch();
    for (const alerts of [false, false, false, false, false] as const) {
      const caused = { ...timeout, alerts };
      bus.tell({ type: 'call.failed', integration: 'kb', call: 'kb-1', failure: caused, retryCount: 0, elapsedMs: 5 });
    }
    fail(4);
    expect(told).toEqual([]);
    fail(1);
    expect(told).toEqual(['raised kb']);
  });

  it('[O-3] counts a failure of a hook once, also of one whose answer cannot be read', () => {
    const { bus, told, fail } = startWatch();
    const failed = (hook: string, kind?: FailureKind): void =>
      bus.tell({ type: 'hook.failed', hook, event: 'Stop', action: '', kind, error: 'boom' });
    for (let time = 0; time < 4; time++) {
      fail(1, 'hook:audit');
      failed('audit', 'timeout');
      failed('refused', 'circuit_open');
    }
    expect(told).toEqual([]);
    failed('audit');
    failed('refused', 'circuit_open');
    expect(told).toEqual(['raised hook:audit']);
  });
});

describe('an alert behind an open circuit', () => {
  const because = { now: 'its circuit is open', until: 'its circuit has closed' };

  it('[O-3] is not cleared while calls are refused, and is for the quiet time after the last of them', async () => {
    const { watch, told, facts, refusals, fail, clock } = startWatch();
    fail(5);
    for (let minutes = 1; minutes <= 60; minutes++) {
      refusals.set('kb', { refused: minutes, because });
      await clock.advance(minute);
    }
    expect(told).toEqual(['raised kb']);
    expect(watch.open).toEqual([{ integration: 'kb', quietMs: 10 * minute, once: 'its circuit has closed' }]);
    await clock.advance(9 * minute + 10_000);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
    expect(facts.at(-1)).toMatchObject({ remains: 'its circuit is open' });
    expect(clock.pending).toBe(0);
  });

  it('[O-3] is cleared ten minutes after the last failure where nobody calls', async () => {
    const { told, refusals, fail, clock } = startWatch();
    refusals.set('kb', { refused: 7 });
    fail(5);
    refusals.set('kb', { refused: 7, because });
    await clock.advance(10 * minute - 1);
    expect(told).toEqual(['raised kb']);
    await clock.advance(10_000);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
  });

  it('[O-3] takes no refusal of a closed circuit for trouble', async () => {
    const { told, facts, refusals, fail, clock } = startWatch();
    fail(5);
    for (let minutes = 1; minutes <= 10; minutes++) {
      refusals.set('kb', { refused: minutes });
      await clock.advance(minute);
    }
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
    expect(facts.at(-1)).not.toHaveProperty('remains');
  });

  it('[O-3] is not cleared by a circuit that closes while one of its tools is open', async () => {
    const { told, refusals, fail, close, clock } = startWatch();
    fail(5);
    const tool = 'the circuit of its tool search';
    refusals.set('kb', { refused: 0, because: { now: `${tool} is open`, until: `${tool} has closed` } });
    close();
    await clock.advance(9 * minute);
    expect(told).toEqual(['raised kb']);
    refusals.clear();
    close();
    await clock.settle();
    expect(told).toEqual(['raised kb', 'cleared kb closed']);
  });
});

describe('an alert of a server that keeps crashing', () => {
  it('[O-3] [M-6] is raised by the fifth crash, though every call survives, once for the episode', () => {
    const { told, facts, crash } = startWatch();
    crash(4);
    expect(told).toEqual([]);
    crash(9);
    expect(facts).toMatchObject([
      { because: 'crashes', integration: 'kb', failures: 0, crashes: 5, kind: 'crash', message: 'exited with code 3' },
    ]);
  });

  it('[O-3] [M-6] counts restarts that fail like crashes', () => {
    const { bus, told, crash } = startWatch();
    crash(1);
    for (let time = 0; time < 3; time++) {
      bus.tell({ type: 'integration.restart_failed', integration: 'kb', message: 'no luck' });
    }
    expect(told).toEqual([]);
    bus.tell({ type: 'integration.restart_failed', integration: 'kb', message: 'no luck' });
    expect(told).toEqual(['raised kb']);
  });

  it('[O-3] has a threshold by integration, and none where alerts are off', () => {
    const { told, crash } = startWatch();
    crash(9, 'silent');
    crash(2, 'quick');
    expect(told).toEqual(['raised quick']);
  });

  it('[O-3] is raised by crashes alone or by failures alone, not by both together', () => {
    const { told, facts, fail, crash } = startWatch();
    crash(4);
    fail(4);
    expect(told).toEqual([]);
    fail(1);
    expect(facts).toMatchObject([{ because: 'failures', failures: 5, crashes: 4 }]);
  });

  it('[O-3] is not cleared by the circuit, which closes with every restart', async () => {
    const { told, facts, crash, close, clock } = startWatch();
    crash(5);
    close();
    await clock.advance(9 * minute);
    crash(1);
    close();
    await clock.advance(10 * minute - 1);
    expect(told).toEqual(['raised kb']);
    await clock.advance(1);
    expect(facts[1]).toMatchObject({ by: 'quiet', failures: 0, crashes: 6, afterMs: 19 * minute });
  });

  it('[O-3] is not cleared by the circuit when it began as one of failures and its server keeps crashing since', async () => {
    const { told, fail, crash, close, clock } = startWatch();
    fail(5);
    crash(5);
    close();
    await clock.settle();
    expect(told).toEqual(['raised kb']);
  });

  it('[O-3] does not keep the circuit from clearing an alert of failures, while there were few crashes', async () => {
    const { told, fail, crash, close, clock } = startWatch();
    crash(4);
    fail(5);
    close();
    await clock.settle();
    expect(told).toEqual(['raised kb', 'cleared kb closed']);
    crash(1);
    expect(told.at(-1)).toBe('raised kb');
  });

  it('[O-3] is raised anew in the next episode, which counts from the start', async () => {
    const { told, crash, clock } = startWatch();
    crash(5);
    await clock.advance(10 * minute);
    crash(4);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
    crash(1);
    expect(told.at(-1)).toBe('raised kb');
  });

  it('[O-3] is kept open on record by every further crash, and raised anew when another runtime cleared it', async () => {
    const fake = fakeRecords();
    const { told, crash, clock } = startWatch({ records: fake.records });
    crash(6);
    await clock.settle();
    expect(fake.asked).toEqual(['raise alert-1', 'extend kb by a crash']);
    fake.given.isOpen = false;
    crash(1);
    await clock.settle();
    expect([told, clock.pending]).toEqual([['raised kb', 'raised kb'], 1]);
  });
});

describe('an alert on record', () => {
  it('[O-3] is kept before it is told, with every failure after it', async () => {
    const { records, asked } = fakeRecords();
    const { told, fail, clock } = startWatch({ records });
    fail(6);
    expect(told).toEqual([]);
    await clock.settle();
    expect([told, asked]).toEqual([['raised kb'], ['raise alert-1', 'extend kb']]);
  });

  it('[O-3] that another runtime has raised is not told twice', async () => {
    const clock = new SimulatedClock();
    const { records, asked } = fakeRecords({ first: open(clock, { id: 'theirs' }) });
    const { told, fail } = startWatch({ records, clock });
    fail(5);
    await clock.advance(10 * minute);
    expect(told).toEqual(['cleared kb quiet']);
    expect(asked).toEqual(['raise alert-1', 'extend kb', 'clear theirs quiet']);
  });

  it('[O-3] is told before its all-clear, however long the record takes', async () => {
    const { records } = fakeRecords();
    let kept = (): void => undefined;
    const slow: AlertRecords = {
      ...records,
      raise: (alert) => new Promise((resolve) => (kept = () => resolve(alert))),
    };
    const { told, fail, close, clock } = startWatch({ records: slow });
    fail(5);
    close();
    await clock.settle();
    expect(told).toEqual([]);
    kept();
    await clock.settle();
    expect(told).toEqual(['raised kb', 'cleared kb closed']);
  });

  it('[O-3] that another runtime has cleared is not told twice', async () => {
    const { records } = fakeRecords({ cleared: { is: 'gone' } });
    const { told, fail, clock } = startWatch({ records });
    fail(5);
    await clock.advance(60 * minute);
    expect(told).toEqual(['raised kb']);
  });

  it('[O-3] that another runtime has cleared is raised anew by failures that go on here', async () => {
    const fake = fakeRecords();
    const { told, fail, clock } = startWatch({ records: fake.records });
    fail(6);
    await clock.settle();
    fake.given.isOpen = false;
    fail(4);
    await clock.settle();
    expect(told).toEqual(['raised kb']);
    fail(1);
    await clock.settle();
    expect([told, clock.pending]).toEqual([['raised kb', 'raised kb'], 1]);
  });

  it('[O-3] [O-2] that the store did not take is cleared by who told it, and is no other', async () => {
    const fake = fakeRecords({ cleared: { is: 'gone' }, isOpen: false });
    const { told, facts, fail, clock } = startWatch({ records: { ...fake.records, raise: async () => undefined } });
    fail(5);
    await clock.settle();
    fail(9);
    await clock.advance(10 * minute);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
    expect(facts[1]).toMatchObject({ alert: 'alert-1', failures: 14 });
  });

  it('[O-3] stays open while another runtime meets failures', async () => {
    const clock = new SimulatedClock();
    const fake = fakeRecords({ cleared: { is: 'failing', lastFailureAt: clock.wallNow() + 3 * minute } });
    const { told, fail } = startWatch({ records: fake.records, clock });
    fail(5);
    await clock.advance(10 * minute);
    fake.given.cleared = { is: 'cleared', failures: 9, crashes: 0 };
    await clock.advance(3 * minute - 1);
    expect(told).toEqual(['raised kb']);
    await clock.advance(1);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
  });

  it('[O-3] [O-2] is told without a store that answers', async () => {
    const { records } = fakeRecords();
    const broken: AlertRecords = { ...records, raise: async () => undefined, clear: async () => undefined };
    const { told, fail, clock } = startWatch({ records: broken });
    fail(5);
    await clock.advance(10 * minute);
    expect(told).toEqual(['raised kb', 'cleared kb quiet']);
  });
});

const earlier = { integration: 'kb', kind: 'timeout', cause: 'failures' } as const;

describe('after a restart', () => {
  it('[O-3] an open alert is not raised again, and is cleared in its time', async () => {
    const clock = new SimulatedClock();
    const { records } = fakeRecords();
    const { told, facts, fail } = startWatch({ records, open: [open(clock)], clock });
    fail(9, 'kb');
    await clock.advance(10 * minute);
    expect(told).toEqual(['cleared kb quiet']);
    expect(facts).toMatchObject([{ alert: 'old', failures: 9, afterMs: 15 * minute }]);
  });

  it('[O-3] an open alert that has been quiet for long is cleared at once, also of an integration without rules', async () => {
    const clock = new SimulatedClock();
    const lastFailureAt = clock.wallNow() - 60 * minute;
    const { records } = fakeRecords();
    const { told } = startWatch({ records, open: [open(clock, { integration: 'silent', lastFailureAt })], clock });
    await clock.advance(1);
    expect(told).toEqual(['cleared silent quiet']);
  });

  it('[O-3] an open alert is not cleared while there was a crash of late that nobody watched', async () => {
    const clock = new SimulatedClock();
    const { records } = fakeRecords();
    const at = clock.wallNow() - 4 * minute;
    const { told } = startWatch({
      open: [open(clock, { lastFailureAt: clock.wallNow() - 60 * minute })],
      records,
      clock,
      earlier: [{ integration: 'kb', kind: 'crash', cause: 'crashes', at }],
    });
    await clock.advance(6 * minute - 1);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(['cleared kb quiet']);
  });

  it('[O-3] a last failure in the future, by a wall clock that stepped back, counts as now', async () => {
    const clock = new SimulatedClock();
    const { records } = fakeRecords();
    const { told } = startWatch({
      records,
      open: [open(clock, { lastFailureAt: clock.wallNow() + 90 * minute })],
      clock,
    });
    await clock.advance(10 * minute);
    expect(told).toEqual(['cleared kb quiet']);
  });

  it('[O-3] failures on record count, and raise nothing without one more', async () => {
    const clock = new SimulatedClock();
    const at = (age: number) => ({ ...earlier, at: clock.wallNow() - age });
    const { told, fail } = startWatch({ clock, earlier: [5, 4, 3, 2, 1, 0].map(at) });
    await clock.advance(1);
    expect(told).toEqual([]);
    fail(1);
    expect(told).toEqual(['raised kb']);
  });

  it('[O-3] failures on record that are too old, or of another kind, do not count', () => {
    const clock = new SimulatedClock();
    const at = clock.wallNow();
    const old: EarlierIncident = { ...earlier, at: at - 10 * minute };
    const other: EarlierIncident = { ...earlier, kind: 'permanent', at };
    const { told, fail } = startWatch({ clock, earlier: [old, old, other, other] });
    fail(4);
    expect(told).toEqual([]);
  });

  it('[O-3] crashes on record count as crashes, and go on counting under an open alert', () => {
    const clock = new SimulatedClock();
    const crashed: EarlierIncident = { integration: 'kb', kind: 'crash', cause: 'crashes', at: clock.wallNow() };
    const { told, fail, crash } = startWatch({ clock, earlier: [crashed, crashed, crashed, crashed] });
    fail(4);
    expect(told).toEqual([]);
    crash(1);
    expect(told).toEqual(['raised kb']);
    const { records } = fakeRecords();
    const next = startWatch({
      clock,
      records,
      open: [open(clock)],
      earlier: [crashed, crashed, crashed, crashed, crashed],
    });
    next.close();
    expect(next.told).toEqual([]);
  });
});
