import { describe, expect, it } from 'vitest';
import type { OpenAlert } from '../../../src/policy/records/alertRecord.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { type Engine, settled } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const alert = (id: string, more: Partial<OpenAlert> = {}): OpenAlert => ({
  id,
  integration: 'kb',
  because: 'failures',
  kind: 'timeout',
  message: 'no answer',
  failures: 5,
  crashes: 1,
  raisedAt: now,
  lastFailureAt: now,
  ...more,
});

const words = { kind: 'timeout', message: 'no answer' } as const;

/** What any engine has to do with open alerts. */
export function keepsAlerts(engine: Engine): void {
  async function start() {
    const started = await engine.start();
    const settle = <T>(promise: Promise<T>): Promise<T> => settled(started, promise);
    return { one: started.one.alerts, two: started.two.alerts, settle, started };
  }

  describe('alerts', () => {
    it('[O-3] are raised by one of several runtimes, the other learns whose it is', async () => {
      const { one, two, settle } = await start();
      expect(await settle(one.raise(alert('first')))).toEqual(alert('first'));
      expect(await settle(two.raise(alert('second')))).toEqual(alert('first'));
      expect((await settle(two.raise(alert('third', { integration: 'search' }))))?.id).toBe('third');
      expect((await one.open()).map(({ id }) => id)).toEqual(['first', 'third']);
    });

    it('[O-3] are told of in the very commit that raises or clears them', async () => {
      const { one, two, settle, started } = await start();
      const about = { integration: 'kb', failures: 5, crashes: 0, host: 'here', pid: 1, gateway: 'gateway' } as const;
      const raised = (id: string): Fact => ({
        ...about,
        type: 'alert.raised',
        alert: id,
        because: 'failures',
        windowMs: 1,
        quietMs: 1,
        kind: 'timeout',
        message: 'no answer',
      });
      const cleared = (alert: string): Fact => ({ ...about, type: 'alert.cleared', alert, by: 'closed', afterMs: 1 });
      // The facts of these are told to no bus: only the transaction can have recorded them.
      await settle(one.raise(alert('first'), raised('first')));
      await settle(two.raise(alert('second'), raised('second')));
      await settle(two.clear('first', 'closed', now + 5, Infinity, () => cleared('first')));
      await settle(one.clear('first', 'closed', now + 6, Infinity, () => cleared('first')));
      const told = await started.one.read({ category: 'alert', limit: 9 });
      expect(told.map(({ type, at, metadata }) => [type, at, metadata['alert']])).toEqual([
        ['raised', now, 'first'],
        ['cleared', now + 5, 'first'],
      ]);
    });

    it('[O-3] are cleared by one of several runtimes', async () => {
      const { one, two, settle } = await start();
      await settle(one.raise(alert('first')));
      expect(await settle(two.clear('first', 'closed', now + 5, Infinity))).toEqual({
        is: 'cleared',
        failures: 5,
        crashes: 1,
      });
      expect(await settle(one.clear('first', 'quiet', now + 5, 0))).toEqual({ is: 'gone' });
      expect([await one.open(), await settle(one.extend('kb', 'failures', now + 6, words))]).toEqual([[], false]);
      expect((await settle(one.raise(alert('next'))))?.id).toBe('next');
    });

    it('[O-3] say what the last failure of their sort said, beside its time', async () => {
      const { one, two, settle } = await start();
      await settle(one.raise(alert('first')));
      await settle(two.extend('kb', 'failures', now + 10, { kind: 'transient', message: 'HTTP 503' }));
      // Committed late, and a crash of an alert that failures raised.
      await settle(one.extend('kb', 'failures', now + 5, { kind: 'timeout', message: 'before that' }));
      await settle(one.extend('kb', 'crashes', now + 20, { kind: 'crash', message: 'it died' }));
      const counted = { failures: 7, crashes: 2, lastFailureAt: now + 20 };
      expect(await one.open()).toMatchObject([{ kind: 'transient', message: 'HTTP 503', ...counted }]);
    });

    it('[O-3] stay open when there was a failure after the quiet began, whoever met it', async () => {
      const { one, two, settle } = await start();
      await settle(one.raise(alert('first')));
      expect(await settle(two.extend('kb', 'failures', now + 10, words))).toBe(true);
      expect(await settle(one.clear('first', 'quiet', now + 20, now + 9))).toEqual({
        is: 'failing',
        lastFailureAt: now + 10,
      });
      expect(await settle(one.clear('first', 'quiet', now + 20, now + 10))).toMatchObject({ failures: 6, crashes: 1 });
    });

    it('[O-3] count crashes beside failures, and say which of them raised it', async () => {
      const { one, two, settle } = await start();
      await settle(one.raise(alert('first', { because: 'crashes', failures: 0, crashes: 5 })));
      expect(await settle(two.extend('kb', 'crashes', now + 10, words))).toBe(true);
      expect(await two.open()).toMatchObject([
        { because: 'crashes', failures: 0, crashes: 6, lastFailureAt: now + 10 },
      ]);
      expect(await settle(one.clear('first', 'quiet', now + 20, now + 10))).toMatchObject({ failures: 0, crashes: 6 });
    });

    it('[O-3] are not held open by a failure of the future', async () => {
      const { one, settle } = await start();
      await settle(one.raise(alert('first', { lastFailureAt: now + 1_000 })));
      expect(await settle(one.clear('first', 'quiet', now + 999, now))).toMatchObject({ is: 'cleared' });
    });
  });
}
