import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ProcessLog } from '../../../testing/demo/processLog.ts';
import { createGateway } from '../../../src/index.ts';
import { isAlive } from '../../support/temporary.ts';

/** Lives until it is killed; says when it has started. */
const idler = ['-e', 'console.log("up"); setInterval(() => undefined, 1e6)'];

async function startChild(options: { detached: boolean } = { detached: false }) {
  const child = spawn(process.execPath, idler, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return { pid: child.pid ?? 0, end: async () => (child.kill('SIGKILL'), once(child, 'exit')) };
}

function startLog() {
  // The guard is a child of its own until the gateway stops.
  const gateway = createGateway({ childGuard: false });
  onTestFinished(() => gateway.stop());
  return { gateway, log: new ProcessLog(gateway) };
}

describe('the log of processes', () => {
  it('[I-3] finds nothing left when what the gateway started has ended', async () => {
    const { gateway, log } = startLog();
    await log.begin();
    const cli = gateway.subprocess('cli', { command: process.execPath });
    await gateway.start();
    await cli.call({ args: ['-e', ''] });
    await log.ended('process:cli:', AbortSignal.timeout(20_000));
    expect([log.count, await log.left()]).toEqual([1, []]);
  });

  it('[I-3] finds what the gateway runs, and by what name', async () => {
    const { gateway, log } = startLog();
    const cli = gateway.subprocess('cli', { command: process.execPath, graceMs: 0 });
    await gateway.start();
    const started = gateway.wait('process.started');
    const running = cli.call({ args: idler });
    const { pid } = await started;
    expect([log.pidOf('process:cli:1'), await log.left()]).toEqual([pid, expect.arrayContaining([pid])]);
    await gateway.stop();
    await running;
    expect([log.pidOf('process:cli:1'), isAlive(pid)]).toEqual([undefined, false]);
  });

  it('[I-3] finds a process that was added by hand, until it is gone', async () => {
    const { log } = startLog();
    const { pid, end } = await startChild({ detached: true });
    await log.begin();
    expect(await log.left()).toEqual([]);
    log.add(pid);
    expect([await log.alive(pid), await log.left()]).toEqual([[pid], [pid]]);
    await end();
    expect([await log.alive(pid), await log.left()]).toEqual([[], []]);
  });

  it.runIf(process.platform === 'linux')(
    '[I-3] finds a child that no fact told of, but not one from before',
    async () => {
      const { log } = startLog();
      await startChild();
      await log.begin();
      const { pid } = await startChild();
      expect(await log.left()).toEqual([pid]);
    },
  );
});
