import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { DatabaseSource } from '../../../web/dashboard/databaseSource.ts';
import { openReader } from '../../../reader/openReader.ts';
import { failed, hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call, databaseWith } from '../startCli.ts';

const minute = 60_000;

/** A database with an open alert of `kb`, whose gateway has ended or goes on; commands see the time that is given. */
async function startAlerted() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const db = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: db, alerts: { failures: 1, quietMs: 600_000 }, logger: false });
  onTestFinished(() => gateway.stop());
  const policy = { maxAttempts: 1, breaker: { consecutiveFailures: 2, resetTimeoutMs: 3_600_000 } };
  const kb = gateway.integration('kb', { policy }, () => {
    throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  });
  await gateway.start();
  const raised = gateway.wait('alert.raised');
  await kb.call({});
  await raised;
  await gateway.store?.flush();
  const run = (words: readonly string[], later = 0) => call([...words, '--db', db], { now: () => Date.now() + later });
  const data = async <T>(words: readonly string[], later = 0): Promise<T> =>
    JSON.parse((await run([...words, '--json'], later)).stdout) as T;
  return { db, gateway, kb, run, data };
}

interface Alerts {
  readonly open: readonly { readonly note?: unknown }[];
  readonly unwatched: readonly { readonly note?: unknown }[];
}
interface Status {
  readonly attention: readonly { readonly what: string }[];
  readonly alerts: Alerts;
}

describe.skipIf(!hasSqlite)('an alert that somebody looks after', () => {
  it('[O-3] is acknowledged with name, time and reason, which alerts, status and the events show', async () => {
    const { run, data } = await startAlerted();
    expect((await data<Status>(['status'])).attention).toHaveLength(1);
    const { code, stdout } = await run(['alerts', '--ack', 'kb', '--by', 'Ana Ruiz', '--reason', 'disk is full']);
    expect([code, stdout]).toEqual([0, 'The alert of kb is acknowledged, until it ends.\n']);
    const shown = await run(['alerts'], 3 * minute);
    expect(shown.stdout).toMatch(/^acknowledged +kb /m);
    expect(shown.stdout).toMatch(/^kb: acknowledged by Ana Ruiz \d+m\d*s? ago: disk is full$/m);
    const note = { is: 'acknowledged', by: 'Ana Ruiz', why: 'disk is full' };
    expect((await data<Alerts>(['alerts'])).open).toMatchObject([{ note }]);
    expect(await data<Status>(['status'])).toMatchObject({ attention: [], alerts: { open: [{ note }] } });
    expect((await run(['status'])).stdout).toMatch(/^kb: acknowledged by Ana Ruiz (?:now|\d.* ago): disk is full$/m);
    expect((await run(['why', 'kb'])).code).toBe(0);
    const told = await run(['events', '--category', 'operator']);
    expect(told.stdout).toMatch(/acknowledged .*by=Ana Ruiz/);
  });

  it('[O-3] ends with its alert: the next one is told again', async () => {
    const { gateway, kb, data, run } = await startAlerted();
    await run(['alerts', '--ack', 'kb']);
    await kb.call({});
    const cleared = gateway.wait('alert.cleared');
    kb.breaker.reset();
    await cleared;
    const raised = gateway.wait('alert.raised');
    await kb.call({});
    await raised;
    await gateway.store?.flush();
    const { open } = await data<Alerts>(['alerts']);
    expect(open).toHaveLength(1);
    expect(open[0]?.note).toBeUndefined();
  });

  it('[O-3] is put off for a time, and told again after it', async () => {
    const { run, data } = await startAlerted();
    const { code, stdout } = await run(['alerts', '--snooze', 'kb', '--for', '2h', '--by', 'ben']);
    expect([code, stdout]).toEqual([0, 'The alert of kb is put off for 2h, or until it ends.\n']);
    expect((await data<Status>(['status'], 119 * minute)).attention).toEqual([]);
    expect((await run(['alerts'], minute)).stdout).toMatch(
      /^kb: put off by ben until \d{4}-\d\d-\d\d \d\d:\d\d, told again in 1h\d+m$/m,
    );
    const after = await data<Status>(['status'], 121 * minute);
    expect(after.attention).toHaveLength(1);
    expect((await run(['alerts'], 121 * minute)).stdout).toMatch(/^open +kb /m);
  });

  it('[O-3] needs no gateway, and leaves the open circuit told, last and with who looks after it', async () => {
    const { gateway, kb, run, data } = await startAlerted();
    await kb.call({});
    await gateway.stop();
    expect((await run(['alerts', '--ack', 'kb', '--by', 'ana'])).code).toBe(0);
    const { attention } = await data<Status>(['status']);
    expect(attention.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^kb is not called: its circuit is open.* \(acknowledged by ana (?:now|\d.* ago)\)$/),
    ]);
  });

  it('[O-3] is one that nobody watches, too, until it was quiet', async () => {
    const at = Date.now();
    const facts = (base: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...failed(index, { integration: 'nightly' }), at: base + index }));
    const db = await databaseWith(
      ...facts(at - minute, 5),
      ...facts(at + 9 * minute, 5),
      ...facts(at + 25 * minute, 5),
    );
    const see = async (later: number): Promise<Alerts> =>
      JSON.parse((await call(['alerts', '--json', '--db', db], { now: () => at + later })).stdout) as Alerts;
    expect((await see(0)).unwatched).toMatchObject([{ integration: 'nightly' }]);
    expect((await call(['alerts', '--ack', 'nightly', '--by', 'ana', '--db', db])).code).toBe(0);
    expect((await see(10 * minute)).unwatched).toMatchObject([{ note: { by: 'ana' } }]);
    const [later] = (await see(26 * minute)).unwatched;
    expect(later).toMatchObject({ integration: 'nightly' });
    expect(later?.note).toBeUndefined();
  });

  it('[O-3] is told where there is none, with the nearest name; what cannot be meant is refused', async () => {
    const { run } = await startAlerted();
    const none = await run(['alerts', '--ack', 'kc']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('No alert of kc is open')]);
    expect(none.stderr).toContain('did you mean kb?');
    expect((await run(['alerts', '--ack', 'zzzzzzzz'])).stderr).toContain('nothing was done; open: kb.');
    for (const words of [
      ['--ack', 'kb', '--snooze', 'kb', '--for', '1h'],
      ['--snooze', 'kb'],
      ['--snooze', 'kb', '--for', 'soon'],
      ['--snooze', 'kb', '--for', '0s'],
      ['--for', '1h'],
      ['--by', 'ana'],
    ])
      expect((await run(['alerts', ...words])).code).toBe(2);
  });

  it('[O-3] is none where none is open, which is said', async () => {
    const db = await databaseWith();
    const { code, stderr } = await call(['alerts', '--ack', 'kb', '--db', db]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('No alert of kb is open, and nothing was done; none is open.'),
    ]);
  });

  it('[O-3] [O-13] is put away on the dashboard, which asks nobody any more and shows who does it', async () => {
    const { db } = await startAlerted();
    const reader = await openReader(db);
    onTestFinished(() => reader.close());
    const source = new DatabaseSource({ clock: systemClock, read: (work) => work(reader) });
    expect((await source.snapshot(900_000)).waits).toMatchObject([{ sign: 'alert', needsPerson: true }]);
    const order = { order: 'snooze', name: 'kb', target: '2h', by: 'ana', why: 'known' } as const;
    expect(await source.order(order)).toMatchObject({ ok: true });
    const { waits, alerts } = await source.snapshot(900_000);
    expect(waits).toEqual([]);
    expect(alerts).toMatchObject([{ state: 'open', note: { is: 'snoozed', by: 'ana', why: 'known' } }]);
    expect((alerts[0]?.note?.until ?? 0) - systemClock.wallNow()).toBeGreaterThan(119 * minute);
    expect((await source.order({ ...order, target: 'long' })).ok).toBe(false);
    const acknowledged = await source.order({ order: 'acknowledge', name: 'kb', by: 'ben' });
    expect(acknowledged).toEqual({ ok: true, text: 'The alert of kb is acknowledged, until it ends.' });
    expect((await source.snapshot(900_000)).alerts).toMatchObject([{ note: { is: 'acknowledged', by: 'ben' } }]);
  });
});
