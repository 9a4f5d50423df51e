import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClaude } from '../../../agents/claude/index.ts';
import { codexKind } from '../../../agents/codex/codex.ts';
import { createGateway, type GatewayOptions, type Outcome } from '../../../src/index.ts';
import { codexFixture, quickTurn } from '../../agents/codex/startCodex.ts';
import { fakeClaude } from '../../support/fakeClaude.ts';
import { faultyServer } from '../../support/faultyServer.ts';
import { refuseStarts, shortages } from '../../support/refusedStarts.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A gateway, and the errors of its process that nobody was told. */
async function startGateway(options: GatewayOptions = {}) {
  const strays = vi.fn<(error: unknown) => void>();
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, strays);
    onTestFinished(() => void process.off(event, strays));
  }
  const gateway = createGateway({ store: ':memory:', logger: false, ...options });
  onTestFinished(() => gateway.stop());
  await gateway.start();
  return { gateway, strays };
}

/** Asks until it is answered: what waits to be tried again takes its time. */
async function answered(ask: () => Promise<Outcome<unknown>>): Promise<unknown> {
  for (;;) {
    const outcome = await ask();
    if (outcome.ok) return outcome.value;
  }
}

describe.runIf(process.platform === 'linux').each(shortages)(
  'the call of a command while nothing starts: %s',
  (code, errno) => {
    it('[S-4] fails, and the command runs again once it may', async () => {
      const { gateway, strays } = await startGateway();
      const cli = gateway.subprocess('cli', { command: 'echo', args: ['hi'] });
      const allow = refuseStarts(errno);
      expect(await cli.call({}, { maxAttempts: 1 })).toMatchObject({
        ok: false,
        failure: { kind: 'transient', code, outcome: 'not_started' },
      });
      allow();
      expect(await cli.call({})).toMatchObject({ ok: true });
      expect(strays).not.toHaveBeenCalled();
    });
  },
);

// Node throws when there is no memory, and else tells later. What it is short of makes no other difference but in the reason, which all take from one place.
const told = shortages.filter(([code]) => code === 'EAGAIN' || code === 'ENOMEM');

describe.runIf(process.platform === 'linux').each(told)('a gateway whose system starts nothing: %s', (code, errno) => {
  const notStarted = { ok: false, failure: { kind: 'transient', code, outcome: 'not_started' } };

  it('[S-4] starts a command without its guard, and says so once', async () => {
    const warned: string[] = [];
    const log = (message: string): void => void warned.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    const { gateway, strays } = await startGateway({ logger });
    const allow = refuseStarts(errno);
    const cli = gateway.subprocess('cli', { command: 'echo', args: ['hi'] });
    for (let run = 0; run < 3; run++) await cli.call({}, { maxAttempts: 1 });
    allow();
    expect(await cli.call({})).toMatchObject({ ok: true });
    expect(strays).not.toHaveBeenCalled();
    expect(warned.filter((line) => line.includes('no guard')).length).toBeLessThanOrEqual(1);
  });

  it('[S-4] [P-1] fails the calls of an MCP server, which comes up once it may', async () => {
    const { gateway, strays } = await startGateway();
    const allow = refuseStarts(errno);
    const kb = gateway.mcpServer('kb', faultyServer());
    const outcome = await kb.call({ name: 'echo' }, { maxAttempts: 1 });
    expect(outcome).toMatchObject(notStarted);
    allow();
    await answered(() => kb.call({ name: 'echo' }));
    expect(strays).not.toHaveBeenCalled();
  });

  it('[S-4] [H-2] has a guard that could not be run decline', async () => {
    const { gateway, strays } = await startGateway();
    gateway.hook('PreToolUse', { command: 'true' }, { name: 'guard', onFailure: 'block' });
    const allow = refuseStarts(errno);
    expect(await gateway.runHooks({ event: 'PreToolUse' })).toMatchObject({ decision: 'block' });
    allow();
    expect(await gateway.runHooks({ event: 'PreToolUse' })).toMatchObject({ decision: 'continue' });
    expect(strays).not.toHaveBeenCalled();
  });

  it('[S-4] [O-3] goes on without the command of an alert, which is run again for the next', async () => {
    const file = join(temporaryDirectory(), 'told');
    const command = { command: 'sh', args: ['-c', `cat > ${file}.new; mv ${file}.new ${file}`] };
    const { gateway, strays } = await startGateway({ alerts: { failures: 1, command } });
    const down = (name: string) =>
      gateway.integration(name, { policy: { retry: { maxAttempts: 1 } } }, () => {
        throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
      });
    const allow = refuseStarts(errno);
    const undelivered = gateway.wait('alert.undelivered');
    await down('first').call(undefined);
    await undelivered;
    allow();
    await down('second').call(undefined);
    await vi.waitUntil(() => existsSync(file), { timeout: 250_000 });
    expect(strays).not.toHaveBeenCalled();
    // The waits between the attempts of a delivery take real time.
  }, 300_000);

  it('[S-4] [C-1] fails the call of Claude', async () => {
    const { gateway, strays } = await startGateway();
    const fake = fakeClaude({ text: 'hello' });
    const { command, args, env } = fake;
    const claude = createClaude({ command, args, env, gateway, log: false });
    const allow = refuseStarts(errno);
    const refused = await claude.invokeClaude('hi', { retry: { maxRetries: 1 } });
    expect(refused).toMatchObject({ success: false, error: expect.stringContaining(code) as string });
    allow();
    expect(await claude.invokeClaude('hi')).toMatchObject({ success: true, output: 'hello' });
    expect(strays).not.toHaveBeenCalled();
  });

  it('[S-4] [F-2] fails the thread of an app-server', async () => {
    const { strays } = await startGateway();
    const withCodex = createGateway({ store: ':memory:', logger: false, kinds: [codexKind] });
    onTestFinished(() => withCodex.stop());
    await withCodex.start();
    const env = { FAKE_CODEX: JSON.stringify({ 'turn/start': [quickTurn] }) };
    const codex = withCodex.codex('codex', { command: process.execPath, args: [codexFixture], env });
    const allow = refuseStarts(errno);
    expect(await codex.startThread()).toMatchObject(notStarted);
    allow();
    await answered(() => codex.startThread());
    expect(strays).not.toHaveBeenCalled();
  });
});
