import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../../src/gateway/gateway.ts';
import { type RawDatabase, wrapDatabase } from '../../src/store/sqlite/sqlConnection.ts';
import { prepareSchema } from '../../src/store/sqlite/schema.ts';
import type { Case } from '../harness/suite.ts';

type Connection = RawDatabase & { transaction(work: () => void): { immediate(): void } };

/** The start of a gateway of so many kept sessions, each with one processed message on disk, and its stop. */
export function startOfMany(count: number): Case {
  return {
    isolated: true,
    long: true,
    async measure(probe) {
      const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
      const path = join(directory, 'many.sqlite');
      fill(path, count);
      const gateway = createGateway({ store: path, control: false });
      const declaredAt = performance.now();
      for (let index = 0; index < count; index++) gateway.session(nameOf(index), { onMessage: () => undefined });
      probe.record('declared', performance.now() - declaredAt, 'ms');
      const startedAt = performance.now();
      const longestMs = await longestTurn(async () => {
        await gateway.start();
        probe.record('start', performance.now() - startedAt, 'ms');
      });
      probe.record('longest turn', longestMs, 'ms');
      await gateway.session(nameOf(count - 1)).send({ kind: 'user' });
      probe.record('memory', process.memoryUsage().rss / 1000, 'kB');
      probe.record('most memory', process.resourceUsage().maxRSS * 1.024, 'kB');
      const stoppedAt = performance.now();
      const stopTurnMs = await longestTurn(() => gateway.stop());
      probe.record('stop', performance.now() - stoppedAt, 'ms');
      probe.record('longest turn of the stop', stopTurnMs, 'ms');
      rmSync(directory, { recursive: true });
    },
  };
}

const nameOf = (index: number): string => `session-${index}`;

/** What an earlier run has left. */
function fill(path: string, count: number): void {
  const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (path: string) => Connection;
  const database = new Sqlite(path);
  prepareSchema(wrapDatabase(database, path), 'NORMAL');
  const session = database.prepare('INSERT INTO unwedge_sessions (id, owner, fence) VALUES (?, NULL, 1)');
  const message = database.prepare(
    `INSERT INTO unwedge_messages (session, number, body, state, deliveries, posted_at, turn, seq, taken_at, ended_at)
     VALUES (?, 1, '{"kind":"user","text":"hello"}', 'done', 1, ?, 1, 1, ?, ?)`,
  );
  const at = Date.now();
  database
    .transaction(() => {
      for (let index = 0; index < count; index++) {
        session.run(nameOf(index));
        message.run(nameOf(index), at, at, at);
      }
    })
    .immediate();
  database.close();
}

/** Longest time between two turns of the event loop while `work` goes on, in ms. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
  let longestMs = 0;
  let last = performance.now();
  let isOver = false;
  const turned = (): void => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    if (!isOver) setImmediate(turned);
  };
  setImmediate(turned);
  await work();
  isOver = true;
  turned();
  return longestMs;
}
