import { describe, expect, it } from 'vitest';
import { createFactRedactor } from '../../../src/redaction/redactFact.ts';
import type { EventQuery } from '../../../src/store/events.ts';
import type { Store } from '../../../src/store/store.ts';
import { failed, told } from '../startStore.ts';
import type { Engine } from './engine.ts';

const now = Date.UTC(2026, 0, 1);

/** What any engine has to do with events. */
export function keepsEvents(engine: Engine): void {
  /** Failures 0-4 of `kb`, 5-9 of `search`, a ms apart, then an opened breaker. */
  async function start() {
    const { one, two } = await engine.start();
    for (let call = 0; call < 10; call++) one.record(failed(call, { integration: call < 5 ? 'kb' : 'search' }));
    one.record(told({ type: 'breaker.opened', integration: 'kb', openForMs: 60_000, kind: 'timeout' }));
    await one.flush();
    const ids = async (query: Partial<EventQuery>, store: Store = one) =>
      (await store.read({ limit: 100, ...query })).map(({ id }) => id);
    return { one, two, ids };
  }

  describe('events', () => {
    it('[O-1] are read oldest first, the newest of them, by every runtime', async () => {
      const { two, ids } = await start();
      expect(await ids({ limit: 3 })).toEqual([9, 10, 11]);
      expect(await ids({ limit: 3 }, two)).toEqual([9, 10, 11]);
    });

    it('are read on from an id', async () => {
      const { ids } = await start();
      expect(await ids({ limit: 3, after: 2 })).toEqual([3, 4, 5]);
      expect(await ids({ after: 11 })).toEqual([]);
    });

    it('are narrowed by integration, category, time and failure', async () => {
      const { ids } = await start();
      expect(await ids({ integration: 'search' })).toEqual([6, 7, 8, 9, 10]);
      expect(await ids({ category: 'breaker' })).toEqual([11]);
      expect(await ids({ since: now + 8 })).toEqual([9, 10]);
      expect(await ids({ failed: true, integration: 'kb' })).toEqual([1, 2, 3, 4, 5]);
    });

    it('[I-4] are no failure where the caller cancelled, or where no call was lost', async () => {
      const { one, ids } = await start();
      const turn = { type: 'session.turn_failed', session: 's', turn: 1, message: 'm', elapsedMs: 1 } as const;
      const lost = { type: 'mcp.calls_lost', integration: 'fs', repeated: 1, message: 'exited' } as const;
      one.record(told({ ...turn, kind: 'unknown', error: 'boom' }));
      one.record(told({ ...turn, kind: 'cancelled', error: 'stopped' }));
      one.record(told({ ...lost, lost: 0 }));
      one.record(told({ ...lost, lost: 1 }));
      await one.flush();
      expect(await ids({ failed: true, after: 11 })).toEqual([12, 15]);
    });

    it('[O-3] are a failure where an alert did not arrive, also by a delivery that was cancelled', async () => {
      const { one, ids } = await start();
      const cancelled = (integration: string) => {
        const { failure } = failed(0);
        return failed(0, { integration, failure: { ...failure, kind: 'cancelled' } });
      };
      one.record(cancelled('kb'));
      one.record(cancelled('alert:webhook'));
      one.record(cancelled('alert:command'));
      one.record(told({ type: 'alert.undelivered', alert: 'a', integration: 'kb', to: 'webhook', error: 'stopped' }));
      await one.flush();
      expect(await ids({ failed: true, after: 11 })).toEqual([13, 14, 15]);
    });

    it('are looked for among the newest alone where that is asked', async () => {
      const { ids } = await start();
      expect(await ids({ integration: 'search', among: 4 })).toEqual([8, 9, 10]);
      expect(await ids({ integration: 'kb', failed: true, among: 10 })).toEqual([2, 3, 4, 5]);
    });

    it('[O-13] are read back from an id, each once, and narrowed by time', async () => {
      const { ids } = await start();
      expect(await ids({ limit: 4 })).toEqual([8, 9, 10, 11]);
      expect(await ids({ limit: 4, before: 8 })).toEqual([4, 5, 6, 7]);
      expect(await ids({ limit: 4, before: 4 })).toEqual([1, 2, 3]);
      expect(await ids({ before: 1 })).toEqual([]);
      expect(await ids({ integration: 'kb', before: 11, among: 8 })).toEqual([3, 4, 5]);
      expect(await ids({ since: now + 2, until: now + 4 })).toEqual([3, 4]);
    });

    it('[O-13] are narrowed to a session, its supervision and its hooks included', async () => {
      const { one, ids } = await start();
      one.record(told({ type: 'session.started', session: 'agent:a', incarnation: 1 }));
      one.record(told({ type: 'session.started', session: 'agent:ab', incarnation: 1 }));
      one.record(told({ type: 'child.started', child: 'session:agent:a', incarnation: 1 }));
      const hook = { hook: 'h', event: 'e', action: 'a', error: 'threw' };
      one.record(told({ type: 'hook.failed', ...hook, session: 'agent:a' }));
      await one.flush();
      expect(await ids({ session: 'agent:a' })).toEqual([12, 14, 15]);
      expect(await ids({ session: 'agent:a', category: 'child' })).toEqual([14]);
    });

    it('[O-9] of an integration are those of its children and processes too, of one of these those alone', async () => {
      const { one, ids } = await start();
      const started = (child: string) => one.record(told({ type: 'child.started', child, incarnation: 1 }));
      started('mcp:kb');
      started('mcp:kb2');
      started('integration:kb');
      const run = { pid: 7, command: 'node' };
      one.record(told({ type: 'process.started', process: 'process:kb:1', ...run }));
      one.record(told({ type: 'process.started', process: 'process:kb2:1', ...run }));
      one.record(told({ type: 'process.reaped', ownerPid: 1, ageMs: 1, pid: 7, command: '"child":"mcp:kb"' }));
      await one.flush();
      expect(await ids({ integration: 'kb', after: 5 })).toEqual([11, 12, 14, 15]);
      expect(await ids({ integration: 'mcp:kb' })).toEqual([12]);
      expect(await ids({ integration: 'process:kb:1' })).toEqual([15]);
      expect(await ids({ integration: 'kb@7', after: 11 })).toEqual([]);
    });

    it.each([
      ['an error text', 'SAYS "NO"', [12]],
      ['what only looks like a pattern', '100%_', [13]],
      ['a type', 'breaker/opened', [11]],
      ['nothing that is there', 'zebra', []],
    ])('[O-13] are found by %s', async (_what, text, found) => {
      const { one, ids } = await start();
      one.record(told({ type: 'integration.crashed', integration: 'kb', message: 'it says "no" today' }));
      one.record(told({ type: 'integration.crashed', integration: 'kb', message: 'at 100%_ of memory' }));
      await one.flush();
      expect(await ids({ text })).toEqual(found);
    });

    it('carry their time and metadata', async () => {
      const { one } = await start();
      expect((await one.read({ limit: 1, after: 2 }))[0]).toMatchObject({
        id: 3,
        at: now + 2,
        category: 'integration',
        type: 'failure',
        metadata: { integration: 'kb', call: 'call-2' },
      });
    });

    it.each([
      ['limit', 0],
      ['limit', 1.5],
      ['after', -1],
      ['since', Number.NaN],
      ['among', 0],
    ])('name a wrong query: %s %s', async (name, value) => {
      const { ids } = await start();
      await expect(ids({ [name]: value })).rejects.toThrow(`Expected \`${name}\``);
    });

    it('[R-10] are nothing of a retry', async () => {
      const { one, ids } = await start();
      const about = {
        integration: 'kb',
        call: 'call-1',
        attempt: 1,
        kind: 'timeout',
        message: '',
        delayMs: 1,
      } as const;
      expect(one.record(told({ type: 'call.retried', ...about }))).toBe(true);
      await one.flush();
      expect(await ids({ after: 11 })).toEqual([]);
    });

    it('[O-8] hold no secrets of what was masked as it was told', async () => {
      const { one } = await start();
      const input = { password: 'hunter2!' };
      one.record(
        createFactRedactor()(told({ type: 'mcp.tool_failed', integration: 'kb', tool: 'ask', input, error: '' })),
      );
      await one.flush();
      expect((await one.read({ limit: 1 }))[0]?.metadata['input']).toEqual({ password: '[redacted]' });
    });

    it('are refused after closing', async () => {
      const { one } = await start();
      await one.close();
      expect(one.record(failed(1))).toBe(false);
    });
  });
}
