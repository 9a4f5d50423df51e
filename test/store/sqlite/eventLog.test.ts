import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../../src/redaction/knownSecrets.ts';
import { createFactRedactor } from '../../../src/redaction/redactFact.ts';
import { createBus } from '../../../src/telemetry/bus.ts';
import { storedTypes } from '../../../src/store/record.ts';
import {
  failed,
  hasSqlite,
  openDatabase,
  recordMany,
  startStore,
  storedCalls,
  temporaryDirectory,
  told,
} from '../startStore.ts';

describe.skipIf(!hasSqlite)('the event log', () => {
  it('[O-1] stores a final failure as integration/failure with its integration, error, stack and retry count', async () => {
    const { store, path } = await startStore();
    store.record(failed(1, { stack: 'Error: no answer\n    at ask (kb.ts:1:1)' }));
    await store.flush();
    const row = openDatabase(path).prepare('SELECT * FROM events').get();
    expect(row).toMatchObject({
      id: 1,
      timestamp: Date.UTC(2026, 0, 1) + 1,
      category: 'integration',
      event_type: 'failure',
    });
    expect(JSON.parse(String(row?.['metadata']))).toMatchObject({
      integration: 'kb',
      error: 'no answer within 30 s',
      stack: 'Error: no answer\n    at ask (kb.ts:1:1)',
      retry_count: 3,
    });
  });

  it('[O-1] stores times as integers', async () => {
    const { store, path } = await startStore();
    store.record(failed(1.5));
    await store.flush();
    expect(openDatabase(path).prepare('SELECT typeof(timestamp) AS type FROM events').get()?.['type']).toBe('integer');
  });

  it('[O-1] is read by the queries of the gateway whose log it is', async () => {
    const { store, path } = await startStore();
    store.record(failed(1));
    store.record(
      told({ type: 'hook.failed', hook: 'guard', event: 'Stop', action: 'stop', session: 's', error: 'boom' }),
    );
    await store.flush();
    const all = (sql: string): unknown[] => openDatabase(path).prepare(sql).all();
    expect(
      all(`SELECT category, event_type, count(*) AS n FROM events
           WHERE timestamp > unixepoch('2025-12-31') * 1000 GROUP BY category, event_type ORDER BY n, category`),
    ).toEqual([
      { category: 'hook', event_type: 'error', n: 1 },
      { category: 'integration', event_type: 'failure', n: 1 },
    ]);
    expect(
      all(`SELECT json_extract(metadata, '$.hook_name') AS hook, json_extract(metadata, '$.session_key') AS session
           FROM events WHERE category = 'hook' AND event_type = 'error'`),
    ).toEqual([{ hook: 'guard', session: 's' }]);
    expect(
      all(`SELECT metadata->>'$.integration' AS integration, metadata->>'$.retry_count' AS retries FROM events
           WHERE category = 'integration'`),
    ).toEqual([{ integration: 'kb', retries: 3 }]);
  });

  it('[R-10] stores nothing of retries and successes', async () => {
    const { store, path } = await startStore();
    const call = { integration: 'kb', call: 'call-1' };
    store.record(
      told({ type: 'call.retried', ...call, attempt: 1, kind: 'timeout', message: 'no answer', delayMs: 1000 }),
    );
    store.record(told({ type: 'call.succeeded', ...call, attempts: 2, elapsedMs: 1200 }));
    await store.flush();
    expect(openDatabase(path).prepare('SELECT count(*) AS rows FROM events').get()?.['rows']).toBe(0);
    expect(storedTypes).not.toContain('call.retried');
    expect(storedTypes).toContain('call.failed');
  });

  it('[I-4] stores one record for each failed call', async () => {
    const { store, path } = await startStore();
    recordMany(store, 3);
    await store.flush();
    expect(storedCalls(path)).toEqual(['call-0', 'call-1', 'call-2']);
  });

  it('commits the rows of one event-loop turn together, at its end', async () => {
    const { store, path, clock } = await startStore();
    recordMany(store, 2);
    expect(storedCalls(path)).toEqual([]);
    await clock.settle();
    expect(storedCalls(path)).toEqual(['call-0', 'call-1']);
  });

  it('[I-5] flushes more than one commit takes', async () => {
    const { store, path, clock } = await startStore();
    recordMany(store, 1_200);
    const flushed = store.flush();
    await clock.settle();
    expect(await flushed).toBe(true);
    expect(storedCalls(path)).toHaveLength(1_200);
  });

  it('[O-2] refuses nothing while the store is healthy, however much one turn writes', async () => {
    const { store, path, clock } = await startStore();
    expect(recordMany(store, 25_000)).not.toContain(false);
    await clock.settle();
    expect(storedCalls(path)).toHaveLength(25_000);
  });

  it('refuses what comes after closing', async () => {
    const { store, path } = await startStore();
    store.record(failed(1));
    await store.close();
    expect(store.record(failed(2))).toBe(false);
    expect(storedCalls(path)).toEqual(['call-1']);
  });

  it('[O-1] is written by two stores at once', async () => {
    const first = await startStore();
    const second = await startStore({ path: first.path });
    for (let call = 0; call < 20; call += 2) {
      first.store.record(failed(call));
      second.store.record(failed(call + 1));
      await first.clock.settle();
      await second.clock.settle();
    }
    const calls = storedCalls(first.path);
    expect([calls.length, new Set(calls).size]).toEqual([20, 20]);
  });

  it('reads back what is committed, oldest first', async () => {
    const { store } = await startStore();
    recordMany(store, 3);
    await store.flush();
    expect((await store.read({ limit: 2 })).map(({ metadata }) => metadata['call'])).toEqual(['call-1', 'call-2']);
  });

  it('names a wrong query, and is none the worse for it', async () => {
    const { store } = await startStore();
    await expect(store.read({ limit: 0 })).rejects.toThrow('Expected `limit` to be a positive integer, got 0');
    expect(store.degraded).toBe(false);
  });

  it('[O-8] has planted secrets of what a bus tells nowhere in its files', async () => {
    const planted = 'correct-horse-battery-staple';
    const directory = temporaryDirectory();
    const { store, clock } = await startStore({ path: join(directory, 'a.sqlite') });
    const bus = createBus({ clock, redact: createFactRedactor(new KnownSecrets({ KB_PASSWORD: planted })) });
    bus.on('*', (fact) => void store.record(fact));
    const key = `sk-ant-${'x1'.repeat(20)}`;
    bus.tell(
      failed(1, {
        stack: `Error: ${planted}\n at ${key}`,
        failure: { ...failed(1).failure, message: `login with ${planted} at https://me:${planted}@kb.test failed` },
      }),
    );
    bus.tell({
      type: 'mcp.tool_failed',
      integration: 'kb',
      tool: 'ask',
      input: { nested: [{ apiKey: key }] },
      error: key,
    });
    bus.tell({ type: 'process.started', process: 'kb', pid: 1, command: `serve --token=${key} ${planted}` });
    await clock.settle();
    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
    expect(files.join('')).toContain('login with [redacted]');
    expect(files.join('')).not.toContain(planted);
    expect(files.join('')).not.toContain(key);
  });

  it.skipIf(process.platform === 'win32')(
    '[O-8] is readable for its owner only, and so are the directories it makes',
    async () => {
      const path = join(temporaryDirectory(), 'state', 'unwedge', 'events.sqlite');
      const { store } = await startStore({ path });
      store.record(failed(1));
      await store.flush();
      const mode = (file: string) => statSync(file).mode & 0o777;
      expect([path, `${path}-wal`, `${path}-shm`].map(mode)).toEqual([0o600, 0o600, 0o600]);
      expect([dirname(path), dirname(dirname(path))].map(mode)).toEqual([0o700, 0o700]);
    },
  );
});
