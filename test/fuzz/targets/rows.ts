import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examineStore } from '../../../reader/examineStore.ts';
import { openReader } from '../../../reader/openReader.ts';
import { createGateway } from '../../../src/index.ts';
import { findDriver } from '../../../src/store/sqlite/driver.ts';
import { runCommandLine } from '../../../cli/run.ts';
import { must, mustBePlain, type Target } from '../target.ts';

/** A database with some of everything. */
export async function filled(path: string): Promise<void> {
  const gateway = createGateway({ store: path, logger: false, childGuard: false, inbox: true, control: false });
  const fails = gateway.integration(
    'kb',
    { policy: { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1 } } },
    () => {
      throw Object.assign(new Error('503: try again'), { status: 503 });
    },
  );
  const well = gateway.integration('crm', {}, () => 'fine');
  const session = gateway.session('agent:main', {
    async onMessage({ text }, turn) {
      await turn.tool(well, 'find', { text });
      await turn.tool(fails, 'search', {});
      if (text === 'ask') await turn.ask('Sure?', () => new Promise(() => undefined));
      if (text === 'bad') throw new Error('no customer');
    },
  });
  await gateway.start();
  for (const text of ['hello', 'bad', 'ask']) {
    const sent = await session.send({ kind: 'user', text });
    if (sent.accepted && text !== 'ask') await sent.processed.catch(() => undefined);
  }
  // The last one asks, and is stopped so.
  while (gateway.why('agent:main').questions.length === 0) await new Promise(setImmediate);
  await gateway.stop();
}

/** Values that a column is not meant to hold, after the bytes of the input themselves. */
export const strange: readonly (string | number | null)[] = [
  null,
  '',
  'x',
  -1,
  1.5,
  9e15,
  1e308,
  '{',
  '[]',
  '{"a":',
  'null',
  '"\u001b[31m"',
  '{"__proto__":1}',
  '\u0000',
  '[[[[[[[[',
  '{"kind":"nobody"}',
];

/** Rows of the database of a gateway, with values of a wrong type or half of what they held: what reads them says so and throws nothing of its own. */
export async function rows(): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
  const path = join(directory, 'rows.sqlite');
  await filled(path);
  const found = await findDriver();
  if (!found.ok) throw new Error(found.reason);
  const { driver } = found;
  const whole = readFileSync(path);
  const first = driver.open(path, { busyTimeoutMs: 0 });
  const tables = first
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
  const columns = tables.flatMap((table) =>
    first
      .prepare(`PRAGMA table_info("${table}")`)
      .all()
      .map(({ name }) => [table, String(name)] as const),
  );
  first.close();
  const now = Date.UTC(2026, 0, 1, 1);
  const commands = [
    ['status', '--json'],
    ['status'],
    ['why', 'agent:main'],
    ['why', 'kb'],
    ['events'],
    ['events', '--json'],
    ['report'],
    ['alerts'],
    ['inbox'],
    ['letters'],
    ['metrics'],
    ['budget'],
    ['incident', 'agent:main', '--out', join(directory, 'incident')],
  ];
  return {
    seeds: Array.from(
      { length: 40 },
      (_, index) => `${String.fromCodePoint(index + 1)}${String.fromCodePoint(index * 3 + 1)}{"a":1}`,
    ),
    maxBytes: 200,
    mostSteps: () => 20_000_000,
    async run(input, random) {
      writeFileSync(path, whole);
      for (const ending of ['-wal', '-shm']) rmSync(path + ending, { force: true });
      const database = driver.open(path, { busyTimeoutMs: 0 });
      const [table, column] = columns[(input[0] ?? 0) % columns.length] as readonly [string, string];
      const kind = (input[1] ?? 0) % (strange.length + 3);
      const value = kind < strange.length ? (strange[kind] ?? null) : input.subarray(2).toString('utf8');
      try {
        const half = kind === strange.length ? `substr("${column}", 1, length("${column}") / 2)` : '?';
        database.prepare(`UPDATE "${table}" SET "${column}" = ${half}`).run(...(half === '?' ? [value] : []));
      } catch {
        // A column that holds no such value by itself.
        return;
      } finally {
        database.close();
      }
      const reader = await openReader(path);
      try {
        for (const read of [
          () => reader.status(now),
          () => reader.events({ limit: 100 } as never),
          () => reader.alerts(now),
          () => reader.statistics(0),
          () => reader.totals(),
          () => reader.policies(),
          () => reader.runtimes(),
          () => reader.sessionIds(),
          () => reader.session('agent:main'),
          () => reader.turns('agent:main', 10),
          () => reader.history('agent:main', 10),
          () => reader.deadLetters(),
          () => reader.questions(),
          () => reader.lostLog(0),
        ])
          JSON.stringify(await read());
      } catch (error) {
        throw new Error(`${table}.${column} = ${JSON.stringify(value)}: ${String(error)}`, { cause: error });
      } finally {
        reader.close();
      }
      await examineStore(path, { checkUpToBytes: 0, now });
      const words = commands[Math.floor(random() * commands.length)] ?? ['status'];
      let printed = '';
      const write = (text: string): void => void (printed += text);
      const ended = new AbortController();
      await runCommandLine([...words, '--db', path], {
        stdout: { write },
        stderr: { write },
        env: { HOME: directory, XDG_RUNTIME_DIR: directory },
        isTTY: false,
        columns: 100,
        signal: ended.signal,
        pause: () => Promise.resolve(ended.abort()),
        now: () => now,
      });
      const what = `${words.join(' ')} with ${table}.${column} = ${JSON.stringify(value)}`;
      mustBePlain(printed, what);
      must(!/\n\s+at .*\.(?:js|ts):\d/.test(printed), `${what} prints a bug: ${printed.slice(0, 400)}`);
    },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}
