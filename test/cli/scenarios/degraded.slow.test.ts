import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { AlertOptions } from '../../../src/index.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

/** A gateway on a database that it cannot write from its start on: it is not even listed there. */
async function startDegraded(alerts?: AlertOptions) {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
  const db = join(temporaryDirectory(), 'gateway.sqlite');
  const before = createGateway({ store: db, logger: false, control: false });
  await before.start();
  await before.stop();
  const holder = openDatabase(db);
  holder.exec('BEGIN IMMEDIATE');
  const gateway = createGateway({ store: db, logger: false, ...(alerts && { alerts }) });
  const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, async (input) => {
    if (input === 'down') throw Object.assign(new Error('down'), { status: 503 });
    return 'tea';
  });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return { kb, gateway, holder, run: (...words: string[]) => call([...words, '--db', db], { now: Date.now }) };
}

describe.skipIf(!hasSqlite)('a gateway whose store is degraded from its start on', () => {
  it('[L-5] [O-2] is shown as running, with what is wrong, what waits and what to do, until its store has recovered', async () => {
    const { gateway, holder, run } = await startDegraded();
    expect(gateway.store?.degraded).toBe(true);
    const { stdout } = await run('status');
    const said =
      /^! the store of .* \(pid \d+\) has been degraded for \d+s: .*locked; \d+ rows wait in its memory and end with it\n {2}next: end or wait for the process that holds it; do not restart it before$/m;
    expect(stdout).toMatch(said);
    expect(stdout).toContain('Live: ');
    expect(stdout).not.toContain('No gateway');
    const data = JSON.parse((await run('status', '--json')).stdout) as { runtimes: unknown };
    expect(data.runtimes).toMatchObject([
      { pid: process.pid, answered: true, store: { waiting: expect.any(Number) as number } },
    ]);
    expect((await run('alerts')).stdout).toMatch(said);
    expect((await run('status', '--tree')).stderr).toMatch(said);
    expect((await run('metrics')).stdout).toMatch(/^unwedge_stores_degraded 1$/m);
    const doctor = await run('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/cannot write its store:\s[^]*locked/);
    expect(await run('restart', 'kb')).toMatchObject({ code: 0 });
    holder.exec('ROLLBACK');
    await expect.poll(() => gateway.store?.degraded).toBe(false);
    expect((await run('status')).stdout).not.toContain('degraded');
    expect((await run('metrics')).stdout).toMatch(/^unwedge_stores_degraded 0$/m);
  }, 60_000);

  it('[O-2] [O-3] has what it keeps in memory told by alerts and events, and its open alert as not on record until it is', async () => {
    const { kb, gateway, holder, run } = await startDegraded({ failures: 1 });
    const raised = gateway.wait('alert.raised');
    await kb.call('down');
    await raised;
    const { stdout } = await run('alerts');
    expect(stdout).toMatch(/rows wait in its memory/);
    expect(stdout).toContain('An alert is open that is not on record, in the memory of its gateway alone: kb\n');
    expect(stdout).not.toContain('No alerts');
    expect(JSON.parse((await run('alerts', '--json')).stdout)).toMatchObject({ unrecorded: [{ integration: 'kb' }] });
    expect((await run('events')).stderr).toMatch(/^! the store of .* has been degraded .* rows wait in its memory/);
    holder.exec('ROLLBACK');
    await expect.poll(() => gateway.store?.degraded).toBe(false);
    const recovered = (await run('alerts')).stdout;
    expect(recovered).toMatch(/^open +kb /m);
    expect(recovered).not.toContain('not on record');
    expect(JSON.parse((await run('alerts', '--json')).stdout)).toMatchObject({
      open: [{ integration: 'kb' }],
      unrecorded: [],
    });
  }, 60_000);

  it('[O-2] [L-5] has what it keeps in memory told by a command that cannot read its store at all', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    writeFileSync(db, 'not a database, and long enough not to be taken for an empty one'.repeat(20));
    const gateway = createGateway({ store: { path: db, required: false }, logger: false });
    onTestFinished(() => gateway.stop());
    await gateway.start();
    for (const command of ['alerts', 'status', 'events']) {
      const { code, stderr } = await call([command, '--db', db], { now: Date.now });
      expect([command, code]).toEqual([command, 1]);
      expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
        /^unwedge: .*\. The store of .* \(pid \d+\) has been degraded for .* in its memory and ends? with it\. $/,
      );
    }
  }, 60_000);
});
