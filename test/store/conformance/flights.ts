import { describe, expect, it } from 'vitest';
import type { FlightRecord, PolicyRow } from '../../../src/policy/records/flight.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import { mostFlights } from '../../../src/store/flights.ts';
import type { Engine } from './engine.ts';

const record: FlightRecord = {
  integration: 'kb',
  run: 'one',
  pid: 7,
  at: 1000,
  because: 'failure',
  rows: [{ what: 'work', call: 1, attempt: 1, at: 999.125 }],
  limits: [{ idleMs: 5, attemptMs: 10, overallMs: Number.POSITIVE_INFINITY }],
  retries: [],
  missed: 3,
};

const policy: PolicyRow = {
  name: 'kb',
  kept: { of: 'integration', policy: resolvePolicy('kb', { retry: { maxTotalWaitMs: Infinity } }), traits: {} },
  since: 500,
  seenAt: 1000,
};

/** What any engine has to do with the last attempts of integrations. */
export function keepsFlights(engine: Engine): void {
  describe('records of attempts', () => {
    it('[O-16] are read as they were written, oldest first, by integration and time', async () => {
      const { one, two } = await engine.start();
      one.flights.add(record, [policy]);
      await one.flush();
      two.flights.add({ ...record, run: 'two', at: 2000 }, []);
      two.flights.add({ ...record, integration: 'search', at: 3000 }, []);
      await two.flush();
      expect(await one.flights.read({ integration: 'kb' })).toEqual([record, { ...record, run: 'two', at: 2000 }]);
      expect((await one.flights.read({ since: 2000 })).map(({ at }) => at)).toEqual([2000, 3000]);
    });

    it('[O-16] go beyond a number, the oldest first', async () => {
      const { one } = await engine.start();
      one.flights.add({ ...record, integration: 'search' }, []);
      for (let at = 1; at <= mostFlights + 2; at++) one.flights.add({ ...record, at }, []);
      await one.flush();
      const kept = await one.flights.read({ integration: 'kb' });
      expect([kept.length, kept[0]?.at]).toEqual([mostFlights, 3]);
      expect(await one.flights.read({ integration: 'search' })).toHaveLength(1);
    });

    it('[O-16] come with each policy once for its content, with when it was first and last in force', async () => {
      const { one, two } = await engine.start();
      one.flights.keep([policy]);
      await one.flush();
      const other = { of: 'session', watchdog: { toolCallMs: 1, turnMs: 2, releaseMs: 3, recoveryMs: 4 } } as const;
      two.flights.add(record, [
        { ...policy, since: 900, seenAt: 2000 },
        { ...policy, kept: other },
      ]);
      await two.flush();
      // By a process whose clock is behind.
      one.flights.keep([{ ...policy, seenAt: 1500 }]);
      await one.flush();
      const rows = await one.flights.policies();
      expect(rows).toHaveLength(2);
      expect(rows.find(({ kept }) => kept.of === 'integration')).toEqual({ ...policy, seenAt: 2000 });
    });
  });
}
