import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { OpenAlert } from '../../src/policy/records/alertRecord.ts';
import type { Told, Fact } from '../../src/policy/facts/facts.ts';
import { failed, hasSqlite, openDatabase, startStore, told } from '../store/startStore.ts';
import { call, databaseWith } from './startCli.ts';

const minute = 60_000;
/** When the command runs. */
const now = Date.UTC(2026, 0, 1, 1);

const alert = (id: string, integration: string, raisedAt: number): OpenAlert => ({
  id,
  integration,
  because: 'failures',
  kind: 'timeout',
  message: 'no answer\u001b[2J',
  failures: 7,
  crashes: 2,
  raisedAt,
  lastFailureAt: raisedAt + minute,
});

/** One open alert of `kb`, one of `search` that is cleared, and what else is on record. */
async function databaseWithAlerts(...facts: readonly Told<Fact>[]): Promise<string> {
  const { store, clock, path } = await startStore();
  void store.alerts?.raise(alert('one', 'kb', now - 5 * minute));
  void store.alerts?.raise(alert('two', 'search', now - 40 * minute));
  void store.alerts?.clear('two', 'quiet', now - 3 * minute, now);
  for (const fact of facts) store.record(fact);
  const flushed = store.flush();
  await clock.settle();
  await flushed;
  return path;
}

const failures = (count: number, integration: string, ageMs: number): Told<Fact>[] =>
  Array.from({ length: count }, (_, index) => ({ ...failed(index, { integration }), at: now - ageMs }));

const hookFailures = (count: number): Told<Fact>[] =>
  Array.from({ length: count }, () => ({
    ...told({ type: 'hook.failed', hook: 'guard', event: 'PreToolUse', action: 'Bash', error: 'it hung' }),
    at: now,
  }));

describe.skipIf(!hasSqlite)('unwedge alerts', () => {
  it('[O-3] shows open alerts, then those that were cleared', async () => {
    const db = await databaseWithAlerts();
    const { code, stdout } = await call(['alerts', '--db', db]);
    expect(code).toBe(0);
    const [database, table = ''] = stdout.split('\n\n');
    expect(database).toBe(db);
    const [heading, ...lines] = table.split('\n');
    expect(heading).toMatch(/^ALERT +INTEGRATION +SINCE +FAILURES +CRASHES +LAST +CLEARED +WHAT$/);
    expect(lines.slice(2)).toEqual(['FAILURES and CRASHES: those that raised the alert and all since.']);
    expect(lines[0]).toMatch(/^open +kb +5m ago +7 +2 {2}4m ago +timeout: no answer$/);
    expect(lines[1]).toMatch(/^cleared +search +40m ago +7 +2 {2}39m ago +3m ago, quiet +timeout: no answer$/);
  });

  it('[O-3] shows failures that no gateway has watched: of runs and of hooks, within 10 min', async () => {
    const db = await databaseWith(
      ...failures(5, 'run', 10 * minute - 1),
      ...failures(4, 'few', 0),
      ...failures(5, 'old', 10 * minute),
      ...hookFailures(5),
    );
    const { stdout } = await call(['alerts', '--db', db]);
    expect(stdout).toMatch(/^unwatched +hook:guard +5 +0 {2}now +it hung$/m);
    expect(stdout).toMatch(/^unwatched +run +5 +0 {2}9m59s ago +timeout: no answer within 30 s$/m);
    expect(stdout.match(/^unwatched/gm)).toHaveLength(2);
    expect(stdout).toContain(
      `run: nobody watches it\n  clears by itself, once fewer than 5 failures are of the last 10m\n  next: unwedge why run --db ${db}\n`,
    );
    expect(stdout).toMatch(/^FAILURES and CRASHES: of unwatched ones those of the last 10m\.$/m);
  });

  it('[O-3] [M-6] shows what keeps crashing though its calls survive, and nobody has watched', async () => {
    const crash = (type: 'integration.crashed' | 'integration.restart_failed', integration: string, count: number) =>
      Array.from({ length: count }, () => ({ ...told({ type, integration, message: 'it died' }), at: now - 1000 }));
    const facts = [...crash('integration.crashed', 'fs', 3), ...crash('integration.restart_failed', 'fs', 2)];
    const db = await databaseWith(...facts, ...crash('integration.crashed', 'few', 4), ...failures(4, 'few', 0));
    const { stdout } = await call(['alerts', '--db', db]);
    expect(stdout.match(/^unwatched/gm)).toHaveLength(1);
    expect(stdout).toMatch(/^unwatched +fs +0 +5 {2}1s ago +keeps crashing: it died$/m);
  });

  it('[O-3] says of an open alert that it is one of crashes', async () => {
    const { store, path } = await startStore();
    void store.alerts?.raise({ ...alert('one', 'kb', now), because: 'crashes', kind: 'crash' });
    await store.flush();
    expect((await call(['alerts', '--db', path])).stdout).toMatch(/keeps crashing: no answer$/m);
  });

  it('[O-3] tells of what crashed in the past once it is over', async () => {
    const { store, path } = await startStore();
    void store.alerts?.raise({ ...alert('one', 'kb', now - 9 * minute), because: 'crashes', kind: 'crash' });
    void store.alerts?.clear('one', 'quiet', now - minute, now);
    await store.flush();
    expect((await call(['alerts', '--db', path])).stdout).toMatch(/^cleared .* crashed 2 times: no answer$/m);
  });

  it('[O-3] says who raised an open alert, when it clears and what to type next', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store, alerts: { failures: 1, quietMs: 90_000 } });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, () => {
      throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
    });
    await gateway.start();
    const raised = gateway.wait('alert.raised');
    await kb.call({});
    const { at, gateway: name } = await raised;
    await gateway.store?.flush();
    const { stdout } = await call(['alerts', '--db', store], { now: () => at + 500 });
    expect(stdout).toContain(
      [
        `kb: raised now by ${name} (pid ${process.pid} on ${hostname()})`,
        '  clears when its circuit closes, or after 1m30s without a failure or crash: in 1m30s if nothing fails',
        `  next: unwedge why kb --db ${store}\n`,
      ].join('\n'),
    );
    const { open } = JSON.parse((await call(['alerts', '--json', '--db', store])).stdout) as {
      open: readonly { readonly lastFailureAt: number }[];
    };
    const raisedBy = { gateway: name, pid: process.pid, host: hostname() };
    expect(open).toMatchObject([
      { raisedBy, clearsAt: (open[0]?.lastFailureAt ?? 0) + 90_000, next: `unwedge why kb --db ${store}` },
    ]);
  });

  it('[O-3] calls nothing unwatched of what delivers alerts: it raises none', async () => {
    const db = await databaseWith(...failures(9, 'alert:command', 0), ...failures(9, 'alert:webhook', 0));
    expect((await call(['alerts', '--db', db])).stdout).toMatch(/^No alerts are on record: a gateway .*\n$/);
  });

  it('[O-3] calls nothing unwatched that was told of, or says nothing of the integration', async () => {
    const permanent = failures(9, 'other', 0).map((fact) => ({
      ...fact,
      failure: { ...failed(1).failure, kind: 'permanent' as const },
    })) as Told<Fact>[];
    const db = await databaseWithAlerts(...failures(9, 'kb', 0), ...failures(9, 'search', 0), ...permanent);
    const { stdout } = await call(['alerts', '--json', '--db', db]);
    expect(JSON.parse(stdout)).toMatchObject({ unwatched: [], open: [{ id: 'one' }], cleared: [{ id: 'two' }] });
  });

  it('[L-2] gives the same as data, with times', async () => {
    const { stdout } = await call(['alerts', '--json', '--db', await databaseWithAlerts()]);
    expect(JSON.parse(stdout)).toMatchObject({
      open: [alert('one', 'kb', now - 5 * minute)],
      cleared: [{ ...alert('two', 'search', now - 40 * minute), clearedAt: now - 3 * minute, clearedBy: 'quiet' }],
    });
  });

  it('says that there are none', async () => {
    const db = await databaseWith(failed(1));
    expect((await call(['alerts', '--db', db])).stdout).toMatch(/^No alerts are on record: a gateway .*\n$/);
    openDatabase(db).exec('DROP TABLE unwedge_alerts');
    expect((await call(['alerts', '--db', db])).stdout).toMatch(/^No alerts are on record: a gateway .*\n$/);
  });

  it('[O-3] are shown by unwedge status while they are open', async () => {
    const { stdout } = await call(['status', '--db', await databaseWithAlerts()]);
    expect(stdout).toMatch(/^open +kb +5m ago/m);
    expect(stdout).not.toContain('cleared');
  });
});
