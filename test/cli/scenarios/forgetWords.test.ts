import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type Session } from '../../../src/index.ts';
import { fakeMcpServer } from '../../../testing/index.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runHere } from '../startCli.ts';

const words = 'iban-4711';
const fail = () => {
  throw Object.assign(new Error(`upstream down for ${words}`), { status: 503 });
};
const once = { retry: { maxAttempts: 1 } };

/** Says what of a database holds the words: rows as text. */
type Holding = () => Promise<readonly string[]>;

function inFile(path: string): Holding {
  return async () => {
    const database = openDatabase(path);
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const rows = tables.flatMap(({ name }) =>
      database
        .prepare(`SELECT * FROM ${String(name)}`)
        .all()
        .map((row) => JSON.stringify(row)),
    );
    return rows.filter((row) => row.includes(words));
  };
}

async function onServer() {
  const { url, ask } = await newSchema();
  const holding: Holding = async () => {
    const tables = await ask("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'uw_schema'");
    const rows = tables.map(({ name }) => ask(`SELECT row_to_json(t)::text AS row FROM uw.${String(name)} t`));
    return (await Promise.all(rows)).flat().flatMap(({ row }) => (String(row).includes(words) ? [String(row)] : []));
  };
  return { store: url, holding };
}

describe('unwedge forget', () => {
  it.each(['SQLite', 'PostgreSQL'])(
    '[G-18] erases what the calls of a session came to from events, circuits and alerts of their integrations, in %s',
    async (engine) => {
      const home = temporaryDirectory();
      vi.stubEnv('XDG_RUNTIME_DIR', home);
      const file = join(home, 'gateway.sqlite');
      const { store, holding } = engine === 'SQLite' ? { store: file, holding: inFile(file) } : await onServer();
      const gateway = createGateway({ store, childGuard: false, alerts: { failures: 1 } });
      onTestFinished(() => gateway.stop());
      const policy = { ...once, breaker: { consecutiveFailures: 1 } };
      gateway.integration('kb', { policy }, fail);
      gateway.mcpServer('ci', { ...fakeMcpServer({ tools: { broken: fail } }), policy: once });
      const session = gateway.session('main', {
        onMessage: async (_message, turn) => {
          await turn.tool('ci', 'broken', { words });
          await turn.tool('kb', 'find', {});
        },
      });
      await gateway.start();
      const ask = async (to: Pick<Session<unknown>, 'send'>) => {
        const sent = await to.send({ kind: 'user' });
        return sent.accepted ? sent.processed : undefined;
      };
      const raised = gateway.wait('alert.raised');
      await ask(session);
      await raised;
      await gateway.store?.flush();
      const before = (await holding()).join('\n');
      for (const place of ['tool_error', 'because', 'open_until']) expect(before).toContain(place);
      const { code, stdout } = await runHere(['forget', 'main', '--yes', '--db', store], { XDG_RUNTIME_DIR: home });
      expect([code, stdout]).toEqual([0, expect.stringContaining('words of its calls in causes and alerts: ')]);
      expect(await holding()).toEqual([]);
      const other = gateway.session('other', { onMessage: (_message, turn) => turn.tool('kb', 'find', {}) });
      expect(await ask(other)).toMatchObject({ ok: true, value: { kind: 'circuit_open' } });
      await gateway.stop();
      expect(await holding()).toEqual([]);
    },
  );
});
