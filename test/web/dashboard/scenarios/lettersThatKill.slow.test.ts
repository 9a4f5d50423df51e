import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { fixture } from '../../../actors/process/startProcess.ts';
import { hasSqlite, openDatabase } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { sourceOf } from '../startDashboard.ts';

/** A database with a dead letter, and a gateway in a process of its own which each message kills at once. */
async function startWithLetter() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = join(home, 'gateway.sqlite');
  const before = createGateway({ store: path, logger: false, control: false });
  let begins = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begins = resolve));
  const session = before.session('agent:main', {
    onMessage: (_message, { signal }) => {
      begins();
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  await before.start();
  await session.send({ kind: 'user', text: 'first' });
  await begun;
  await before.stop();
  openDatabase(path).exec('UPDATE unwedge_messages SET posted_at = 1');
  const host = spawn(process.execPath, [fixture('dyingGateway'), path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void host.kill('SIGKILL'));
  const exited = once(host, 'exit');
  await once(host.stdout, 'data');
  return { path, exited, host };
}

const rows = (path: string, columns: string, table: string): readonly unknown[] =>
  openDatabase(path)
    .prepare(`SELECT ${columns} FROM ${table} ORDER BY 1`)
    .all()
    .map((row) => Object.values(row).join(' '));

describe.skipIf(!hasSqlite)('a dead letter whose delivery kills its gateway at once', () => {
  it('[O-13] is sent again once, which is on record, and who ordered it hears so', async () => {
    const { path, exited } = await startWithLetter();
    const order = { order: 'send_again', name: 'agent:main', target: 'agent:main-m1', by: 'anna', why: 'try' } as const;
    const { ok, text } = await sourceOf(path).order(order);
    expect([ok, text.split('.')[0]]).toEqual([true, 'agent:main-m1 was sent again as agent:main-m2']);
    expect(await exited).toEqual([null, 'SIGKILL']);
    const again = await sourceOf(path).order(order);
    expect(again.ok).toBe(false);
    expect(again.text).toContain('is no dead letter: it was sent again');
    expect(await sourceOf(path).letters()).toEqual([]);
    expect(rows(path, 'number, state, deliveries, error', 'unwedge_messages')).toEqual([
      '1 dropped 1 sent again as agent:main-m2',
      '2 taken 1 ',
    ]);
    const recorded = rows(path, `event_type || ' ' || metadata`, `events WHERE category = 'operator'`);
    expect(recorded).toEqual([expect.stringMatching(/^sent_again .*"as":"agent:main-m2".*"by":"anna"/)]);
  });

  it('[O-17] [O-13] and the gateway that died are what a person is needed for, by kill -9 as well', async () => {
    const { path, exited, host } = await startWithLetter();
    const before = await sourceOf(path).snapshot(900_000);
    expect(before.letters).toBe(1);
    expect(before.waits).toMatchObject([{ sign: 'letters', needsPerson: true, name: '1 dead letter' }]);
    host.kill('SIGKILL');
    await exited;
    const after = await sourceOf(path).snapshot(900_000);
    expect(after.waits).toMatchObject([
      { of: 'gateway', sign: 'dead', needsPerson: true },
      { sign: 'letters', needsPerson: true },
    ]);
    expect(after.waits[0]?.text).toContain(`pid ${host.pid}`);
  });
});
