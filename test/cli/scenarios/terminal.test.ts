import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { textWidth } from '../../../src/policy/text/textWidth.ts';
import { failed, hasSqlite, openDatabase, startStore } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { noFigures } from '../../../src/policy/records/callFigures.ts';
import { Latencies } from '../../../src/policy/records/latencies.ts';
import { call } from '../startCli.ts';

const now = Date.UTC(2026, 0, 1, 1);
const longName = 'io.example.tools/knowledge-base-of-the-whole-company#3fa2c1';
const session = '0f7c7a52-6d0e-4d6f-9d0a-4c1c5d6c7b8a';
const cause = 'the connection to the server at knowledge.internal.example was closed before it answered';

/** A database with something for every table: a long name, an open circuit, alerts, sessions by ids, figures, events of several days. */
async function startSeeded(): Promise<{ readonly db: string; readonly file: string; readonly transcript: string }> {
  const { store, path } = await startStore();
  const failure = {
    kind: 'timeout',
    message: cause,
    integration: longName,
    attempts: 1,
    outcome: 'unknown',
    retryable: true,
  } as const;
  for (let count = 0; count < 6; count++)
    store.record({ ...failed(count, { integration: longName, failure }), at: now - 60_000 + count });
  store.record({ ...failed(9, { integration: 'kb' }), at: now - 30 * 3_600_000 });
  const open = { state: 'open', openedAt: now, openUntil: now + 41_000, lastOpenMs: 60_000 } as const;
  store.breakers.save(longName, { ...open, openings: 1, failures: 5, generation: 1 });
  const took = new Latencies();
  for (let count = 0; count < 99; count++) took.add(1200);
  const figures = {
    ...noFigures,
    succeeded: 99,
    failed: { timeout: 4, connection: 3, rate_limit: 2 },
    took: took.take(),
  };
  store.statistics.add([{ integration: longName, tool: undefined, minute: now - 60_000, ...figures }]);
  await store.flush();
  const database = openDatabase(path);
  const insert = database.prepare('INSERT INTO events (timestamp, category, event_type, metadata) VALUES (?, ?, ?, ?)');
  insert.run(now - 30_000, 'session', 'turn_failed', JSON.stringify({ session, kind: 'timeout', error: cause }));
  const alert = database.prepare(
    `INSERT INTO unwedge_alerts (id, integration, kind, message, because, failures, crashes, raised_at, last_failure_at, cleared_at, cleared_by)
     VALUES (?, ?, 'timeout', ?, 'failures', 7, 0, ?, ?, ?, ?)`,
  );
  alert.run('one', longName, cause, now - 300_000, now - 60_000, null, null);
  alert.run('two', 'kb', cause, now - 900_000, now - 800_000, now - 100_000, 'recovered');
  const directory = temporaryDirectory();
  const file = join(directory, 'unwedge.json');
  writeFileSync(
    file,
    JSON.stringify({
      policies: { integrations: { [longName]: { attemptMs: '20s' } } },
    }),
  );
  const transcript = join(directory, 'session.json');
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] };
  writeFileSync(transcript, JSON.stringify([{ role: 'user', content: 'go' }, use, { role: 'user', content: 'and?' }]));
  return { db: path, file, transcript };
}

/** What a command has to show at any width: whole, or as a pattern. */
const tables: readonly (readonly [
  string,
  (seeded: Awaited<ReturnType<typeof startSeeded>>) => readonly string[],
  readonly (string | RegExp)[],
])[] = [
  [
    'status',
    ({ db }) => ['status', '--db', db],
    ['open, probe in 41s', /io\.example.*3fa2c1/, 'timeout: the connection to the server', session],
  ],
  [
    'events',
    ({ db }) => ['events', '--db', db],
    ['integration/failure', /io\.example.*3fa2c1/, 'the connection to the server', session],
  ],
  [
    'alerts',
    ({ db }) => ['alerts', '--db', db],
    [/io\.example.*3fa2c1/, /open|OPEN/, 'cleared', 'timeout: the connection to the server'],
  ],
  [
    'report',
    ({ db }) => ['report', '--db', db],
    [/io\.example.*3fa2c1/, '91.6 %', 'timeout 4, connection 3, rate_limit 2'],
  ],
  ['config', ({ file }) => ['config', '--config', file], ['policies.integrations', '20s', 'unwedge.json']],
  [
    'machines',
    () => ['machines'],
    ['integration', 'idle, calling, backoff, open, half-open, crashed', 'something outside'],
  ],
  ['repair', ({ transcript }) => ['repair', '--check', transcript], ['call without', '1']],
];

describe.skipIf(!hasSqlite)('on a terminal', () => {
  for (const columns of [60, 80, 120]) {
    it.each(tables)(`[L-6] of ${columns} columns %s shows what one looks for, and fits`, async (_, wordsOf, looked) => {
      const words = wordsOf(await startSeeded());
      const { stdout, stderr } = await call(words, { isTTY: true, columns, env: { NO_COLOR: '1' } });
      // What to do next, for people; nothing went wrong.
      expect(stderr).toBe(words[0] === 'machines' ? 'unwedge machines NAME draws one of them.\n' : '');
      const missing = looked.filter((each) => !(typeof each === 'string' ? stdout.includes(each) : each.test(stdout)));
      expect(missing).toEqual([]);
      // A command that is there to be copied is not broken, and neither is a path or a name.
      const wide = stdout
        .split('\n')
        .filter((line) => textWidth(line) > columns && !/^ *next: /.test(line) && !/^\S*\/\S+|^..\S+$/.test(line));
      expect(wide).toEqual([]);
    });
  }

  it('[L-6] status leads with what needs attention, and says what to do next', async () => {
    const { db } = await startSeeded();
    const { stdout } = await call(['status', '--db', db], { isTTY: true, columns: 80, env: { NO_COLOR: '1' } });
    const quoted = `'${longName}'`;
    expect(stdout.startsWith(`! ${longName} `)).toBe(true);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('is not called: its circuit is open, next try in 41s: timeout:');
    expect(stdout).toContain(`\n  next: unwedge events --integration ${quoted} --failed --db ${db}\n`);
    expect(stdout).toContain(`! session ${session} failed in 1 turn of`);
    expect(stdout).toContain(`\n  next: unwedge why ${session} --db ${db}\n`);
    expect(stdout.indexOf('  next: ')).toBeLessThan(stdout.indexOf('INTEGRATION'));
    // The commands that it names can be run.
    for (const [, command = ''] of stdout.matchAll(/^ {2}next: unwedge (.*)$/gm)) {
      const words = command.split(' ').map((word) => word.replaceAll("'", ''));
      expect((await call(words)).code).toBe(0);
    }
  });

  it('[L-6] says how a database comes into being where there is none', async () => {
    const path = join(temporaryDirectory(), 'none.sqlite');
    const { code, stderr } = await call(['status', '--db', path]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `No database at ${path}: a gateway with \`store: '${path}'\`, \`unwedge mcp\` or \`unwedge run\` makes one.`,
    );
  });
});
