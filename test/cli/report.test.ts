import { describe, expect, it } from 'vitest';
import { type CallFiguresRow, noFigures } from '../../src/policy/records/callFigures.ts';
import { Latencies } from '../../src/policy/records/latencies.ts';
import { hasSqlite, startStore } from '../store/startStore.ts';
import { call, databaseWith } from './startCli.ts';

/** When the command runs. */
const now = Date.UTC(2026, 0, 1, 1);

function took(ms: number, times: number) {
  const latencies = new Latencies();
  for (let count = 0; count < times; count++) latencies.add(ms);
  return latencies.take();
}

async function databaseWithFigures(...rows: readonly Partial<CallFiguresRow>[]): Promise<string> {
  const { store, clock, path } = await startStore();
  store.statistics.add(
    rows.map((row) => ({ integration: 'search', tool: undefined, minute: now - 60_000, ...noFigures, ...row })),
  );
  const flushed = store.flush();
  await clock.settle();
  await flushed;
  return path;
}

const search = {
  succeeded: 1192,
  failed: { transient: 2, timeout: 7 },
  refused: 12,
  retries: 31,
  took: took(120, 1192),
} as const;

describe.skipIf(!hasSqlite)('unwedge report', () => {
  it('[O-10] shows calls, success, latencies, retries, refusals and kinds of failure', async () => {
    const { code, stdout } = await call(['report', '--db', await databaseWithFigures(search)]);
    expect(code).toBe(0);
    const [, , heading, line] = stdout.split('\n');
    expect(heading).toMatch(/^INTEGRATION +CALLS +SUCCESS +P50 +P95 +P99 +RETRIES +REFUSED +FAILED$/);
    expect(line).toMatch(/^search +1201 +99\.2 % +1[12]\dms +1[12]\dms +1[12]\dms +31 +12 +timeout 7, transient 2$/);
  });

  it('[O-9] [O-10] says when a circuit opened last in that time, and by which rule', async () => {
    const db = await databaseWithFigures(search);
    const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
    const opened = { type: 'breaker.opened', integration: 'search', openForMs: 60_000, kind: 'transient' } as const;
    const { store } = await startStore({ path: db });
    for (const at of [now - 7_200_000, now - 120_000]) store.record({ ...opened, rule, cause: 'HTTP 503', at });
    await store.flush();
    const { stdout } = await call(['report', '--db', db]);
    const why = '(10 of the last 20 attempts failed, failureRatio 0.5): transient: HTTP 503';
    expect(stdout).toMatch(/\n\nsearch: its circuit last opened 2m ago /);
    expect(stdout).toContain(`last opened 2m ago ${why}\n`);
    const data = await call(['report', '--json', '--db', db]);
    expect(JSON.parse(data.stdout)).toMatchObject({ integrations: [{ lastOpened: { at: now - 120_000, rule } }] });
    expect((await call(['report', '--since', '1m', '--db', db])).stdout).not.toContain('last opened');
  });

  it('[O-10] [G-15] [G-16] says which calls were repeated, by session, and what was used of budgets', async () => {
    const db = await databaseWithFigures(search);
    const { store } = await startStore({ path: db });
    const spun = (session: string, tool: string, step: 'notice' | 'end', count: number, agoMs: number): void => {
      const message = `${tool} was called ${count} times with the same arguments and failed alike each time`;
      const news = { tool, step, form: 'failure', count, period: 1, message, answer: 'no' } as const;
      store.record({ type: 'session.spinning', session, integration: 'search', ...news, at: now - agoMs });
    };
    spun('old', 'edit', 'end', 30, 30 * 3_600_000);
    spun('main', 'edit', 'notice', 4, 600_000);
    spun('main', 'edit', 'end', 20, 300_000);
    spun('main', 'edit', 'notice', 4, 60_000);
    for (let nth = 0; nth < 6; nth++) spun(`s${nth}`, 'ls', 'notice', 4, 60_000);
    const limit = {
      scope: 'session:main',
      session: 'main',
      per: 'day',
      metric: 'tokens',
      most: 2e6,
      message: '',
    } as const;
    store.record({ type: 'budget.warning', ...limit, used: 1.7e6, at: now - 7_200_000 });
    store.record({ type: 'budget.spent', ...limit, used: 2.1e6, at: now - 3_600_000 });
    const run = { scope: 'run:coder', per: 'session', metric: 'money', most: 5, used: 4.25, message: '' } as const;
    store.record({ type: 'budget.warning', ...run, at: now - 60_000 });
    await store.flush();
    const { stdout } = await call(['report', '--db', db]);
    expect(stdout.split('\n\n').at(-1)?.split('\n')).toEqual([
      'main: edit was called 20 times with the same arguments and failed alike each time; end 5m ago',
      ...[0, 1, 2, 3].map(
        (nth) => `s${nth}: ls was called 4 times with the same arguments and failed alike each time; notice 1m ago`,
      ),
      '2 more repeat calls: --json has them.',
      'main: used 2.1M of 2M tokens of the day 1h ago',
      'coder: used 4.25 of 5 in money of the run 1m ago',
      '',
    ]);
    const data = JSON.parse((await call(['report', '--json', '--integration', 'search', '--db', db])).stdout) as object;
    expect(data).toMatchObject({
      repeated: [{ session: 'main', tool: 'edit', count: 20, step: 'end' }, {}, {}, {}, {}, {}, {}],
    });
    expect(data).toHaveProperty('budgets', []);
    const all = JSON.parse((await call(['report', '--json', '--db', db])).stdout) as { readonly budgets: unknown };
    expect(all.budgets).toMatchObject([
      { name: 'main', per: 'day', metric: 'tokens', most: 2e6, used: 2.1e6, at: now - 3_600_000 },
      { name: 'coder', per: 'session', metric: 'money', most: 5, used: 4.25 },
    ]);
  });

  it('[O-8] [O-10] shows no secret that stands in a name, and keeps two names apart', async () => {
    const key = (end: string): string => ['sk', 'ant', 'api03', `aB3x7890aB3x7890${end}`].join('-');
    const db = await databaseWithFigures(
      { integration: key('a'), succeeded: 1 },
      { integration: key('b'), succeeded: 2 },
    );
    for (const words of [['report'], ['report', '--json'], ['status'], ['status', '--json']]) {
      const { stdout } = await call([...words, '--db', db]);
      expect(stdout).not.toContain('aB3x7890');
      expect(new Set(stdout.match(/\[redacted\]#[0-9a-f]{6}/g)).size).toBe(2);
    }
  });

  it('[O-10] [L-6] has the course of time on a wide terminal, and fits 80 columns', async () => {
    const db = await databaseWithFigures(search, { succeeded: 3, minute: now - 12 * 3_600_000 });
    const wide = await call(['report', '--db', db], { isTTY: true, columns: 140, env: { NO_COLOR: '1' } });
    expect(wide.stdout).toContain('OVER TIME');
    expect(wide.stdout).toMatch(/▁ +█/);
    const narrow = await call(['report', '--db', db], { isTTY: true, columns: 80, env: { NO_COLOR: '1' } });
    for (const line of narrow.stdout.split('\n').slice(2)) expect(line.length).toBeLessThanOrEqual(80);
    expect(narrow.stdout).toContain('timeout 7');
  });

  it.each([60, 80, 120])(
    '[O-10] [L-6] keeps the figures in %i columns, and folds the kinds of failures',
    async (columns) => {
      const failed = { overloaded: 3, timeout: 1, auth: 1, circuit_open: 1, rate_limit: 4, transient: 2, crash: 1 };
      const job = { integration: 'nightly-report', succeeded: 6, failed, took: took(120, 6) };
      const db = await databaseWithFigures(job, { ...search, failed: {} });
      const { stdout } = await call(['report', '--db', db], { isTTY: true, columns, env: { NO_COLOR: '1' } });
      const [table = '', legend = ''] = stdout.split('REFUSED are no CALLS:');
      expect(legend.replaceAll(/\s+/g, ' ')).toBe(' nothing was sent (an open circuit, a limit, a rule, a stop). ');
      const [heading = '', ...lines] = table.trimEnd().split('\n').slice(2);
      expect(heading).toMatch(/^INTEGRATION +CALLS +SUCCESS +P50 +P95\b/);
      expect(lines[0]).toMatch(/^nightly-report +19 +31\.5 % +1[12]\dms +1[12]\dms/);
      expect(lines.at(-1)).toMatch(/^search +1192 +100 % +1[12]\dms +1[12]\dms/);
      expect(
        lines
          .slice(1, -1)
          .map((line) => line.trim())
          .join(' '),
      ).toBe('failed: rate_limit 4, overloaded 3, transient 2, timeout 1, auth 1, circuit_open 1, crash 1');
      for (const line of [heading, ...lines]) expect(line.length).toBeLessThanOrEqual(columns);
    },
  );

  it('[O-10] is from the beginning of a minute: a call of this minute is in it, however short the time', async () => {
    const db = await databaseWithFigures({ succeeded: 7, minute: now });
    for (const since of ['1ms', '1s', '59s']) {
      const { stdout } = await call(['report', '--since', since, '--json', '--db', db], { now: () => now + 59_999 });
      expect(JSON.parse(stdout)).toMatchObject({ integrations: [{ calls: 7, steps: [{ calls: 7 }] }] });
    }
    const ever = await call(['report', '--since', '999999999d', '--json', '--db', db]);
    expect(JSON.parse(ever.stdout)).toMatchObject({ from: 0, integrations: [{ calls: 7 }] });
  });

  it('[O-10] shows tools and first chunks where they are asked for, or there are any', async () => {
    const db = await databaseWithFigures(search, { tool: 'read', succeeded: 4 }, { firstChunk: took(2500, 1) });
    const { stdout } = await call(['report', '--tools', '--db', db]);
    expect(stdout).toContain('FIRST');
    expect(stdout).toContain('2.5s');
    expect(stdout).toMatch(/^search: read +4 +100 %/m);
    expect((await call(['report', '--db', db])).stdout).not.toContain('read');
  });

  it('[O-10] is of the last 24 h unless told otherwise, and of one integration', async () => {
    const db = await databaseWithFigures(search, { integration: 'old', succeeded: 1, minute: now - 25 * 3_600_000 });
    expect((await call(['report', '--db', db])).stdout).not.toContain('old');
    expect((await call(['report', '--since', '2d', '--db', db])).stdout).toContain('old');
    const one = await call(['report', '--since', '2d', '--integration', 'old', '--db', db]);
    expect(one.stdout).not.toContain('search');
    // Nothing was refused of it.
    expect(one.stdout).not.toContain('REFUSED are no CALLS');
    expect(await call(['report', '--since', '0s', '--db', db])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`--since` to be a duration above 0') as string,
    });
    expect((await call(['report', '--integration', 'none', '--db', db])).stdout).toBe(
      `${db}: the last 24h\nThere is no integration "none"; known: old, search.\n`,
    );
    expect((await call(['report', '--integration', 'old', '--db', db])).stdout).toContain(
      'No call of old has ended in that time.\n',
    );
    expect((await call(['report', '--integration', 'serach', '--db', db])).stdout).toMatch(
      /There is no integration "serach"; did you mean "search"\?\n$/,
    );
  });

  it('[O-10] gives data for machines', async () => {
    const { stdout } = await call(['report', '--json', '--db', await databaseWithFigures(search)]);
    expect(JSON.parse(stdout)).toMatchObject({
      until: now,
      integrations: [{ integration: 'search', calls: 1201, successRate: 1192 / 1201, failures: { timeout: 7 } }],
    });
  });

  it('[L-6] says how figures come into being where there are none, and never 100 % where one call failed', async () => {
    expect((await call(['report', '--db', await databaseWith()])).stdout).toContain('No call has ended in that time.');
    const db = await databaseWithFigures({ succeeded: 99_999, failed: { auth: 1 } });
    expect((await call(['report', '--db', db])).stdout).toContain('99.9 %');
  });
});
