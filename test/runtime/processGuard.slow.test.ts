import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { createGateway, type ProcessGuardOptions } from '../../src/index.ts';
import { openReader } from '../../reader/openReader.ts';
import { hasSqlite } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a host with a gateway in a process of its own, then `body`; what goes on for a moment prints `alive`. */
async function runHost(body: string) {
  const db = join(temporaryDirectory(), 'host.sqlite');
  const script = `
    import { createGateway } from 'unwedge';
    const gateway = createGateway({ store: ${JSON.stringify(db)} });
    await gateway.start();
    const bug = () => setImmediate(() => { throw new Error('bug in a timer'); });
    const rejection = () => void Promise.reject(new Error('forgotten rejection'));
    ${body}
    setImmediate(() => setImmediate(async () => { await gateway.stop(); console.log('alive'); }));`;
  const { exitCode, stdout, stderr } = await execa(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    reject: false,
  });
  const reader = await openReader(db);
  const events = (await reader.events({ category: 'host', limit: 10 })).map(({ type, metadata }) => ({
    type,
    ...metadata,
  }));
  reader.close();
  return { exitCode, stdout, stderr, events };
}

describe.skipIf(!hasSqlite)('a process guard', () => {
  it.each([
    ['bug()', 'bug in a timer', 'uncaughtException'],
    ['rejection()', 'forgotten rejection', 'unhandledRejection'],
  ])('[H-1] records %s with its stack, and lets the process end as it would have', async (what, error, origin) => {
    const { exitCode, stdout, stderr, events } = await runHost(`gateway.guardProcess(); ${what};`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(error);
    expect(events).toMatchObject([{ type: 'uncaught', origin, error, went_on: false }]);
    expect(events[0]).toHaveProperty('stack', expect.stringContaining(`Error: ${error}`) as string);
  });

  it.each(['bug()', 'rejection()'])('[H-1] has the process go on after %s when it is told to', async (what) => {
    const { exitCode, stdout, events } = await runHost(`gateway.guardProcess({ goOn: () => true }); ${what};`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'alive' });
    expect(events).toMatchObject([{ type: 'uncaught', went_on: true }]);
  });

  it('[H-1] ends the process for an error that it was not told to go on after, and when goOn throws', async () => {
    const picky = "gateway.guardProcess({ goOn: (error) => error.message === 'another' });";
    expect(await runHost(`${picky} bug();`)).toMatchObject({ exitCode: 1, stdout: '', events: [{ went_on: false }] });
    const broken = 'gateway.guardProcess({ goOn: () => { throw new Error("broken"); } });';
    const { exitCode, stderr } = await runHost(`${broken} bug();`);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('Uncaught Error: bug in a timer');
  });

  it('[H-1] leaves the decision to a listener of the host', async () => {
    const host = "process.on('uncaughtException', (error) => console.log('host:', error.message));";
    const { exitCode, stdout, events } = await runHost(`${host} gateway.guardProcess({ goOn: () => false }); bug();`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'host: bug in a timer\nalive' });
    expect(events).toHaveLength(1);
  });

  it('[H-1] [U-1] shares the process with that of another gateway: both record, one yes goes on', async () => {
    const { exitCode, stdout } = await runHost(`
      const other = createGateway({ store: ':memory:' });
      await other.start();
      gateway.guardProcess({ goOn: () => false });
      other.guardProcess({ goOn: () => true });
      for (const each of [gateway, other]) each.on('host.uncaught', ({ error, wentOn }) => console.log(error, wentOn));
      bug();`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'bug in a timer true\nbug in a timer true\nalive' });
  });

  it('[H-1] [I-3] is gone when it is taken off, and when its gateway stops', async () => {
    const gateway = createGateway({ store: ':memory:' });
    const counts = () => ['uncaughtException', 'uncaughtExceptionMonitor'].map((name) => process.listenerCount(name));
    const before = counts();
    const unguard = gateway.guardProcess({ goOn: () => true });
    gateway.guardProcess();
    expect(counts()).toEqual(before.map((count) => count + 1));
    unguard();
    unguard();
    expect(counts()).toEqual([before[0], (before[1] ?? 0) + 1]);
    await gateway.stop();
    expect(counts()).toEqual(before);
  });

  it.each([
    [{ goOn: true }, 'Expected `options.goOn` to be a function, got true'],
    [{ go: 1 }, 'Unknown option `options.go`'],
  ])('refuses %j with an error that names it', (options, message) => {
    const gateway = createGateway({ store: ':memory:' });
    expect(() => gateway.guardProcess(options as ProcessGuardOptions)).toThrow(message);
  });
});
