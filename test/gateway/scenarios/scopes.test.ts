import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type ToolCallOptions } from '../../../src/index.ts';
import { fixture, isAlive } from '../../actors/process/startProcess.ts';

async function startCommand(graceMs: number) {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const cli = gateway.subprocess('cli', { command: process.execPath, graceMs });
  await gateway.start();
  const started = gateway.wait('process.started');
  return { gateway, cli, started };
}

describe('runs of one scope', () => {
  it('[S-6] replace each other, the next one when the last is gone', async () => {
    const { gateway, cli, started } = await startCommand(300);
    const first = cli.call({ args: [fixture('stubborn')] }, { scope: 'chat' });
    const { pid } = await started;
    const seen: boolean[] = [];
    gateway.once('process.started', () => seen.push(isAlive(pid)));
    const second = cli.call({ args: ['-p', '1'] }, { scope: 'chat', replace: true });
    expect(await first).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'replaced' } });
    expect(await second).toMatchObject({ ok: true, value: { stdout: { text: '1\n' } } });
    expect(seen).toEqual([false]);
  });

  it('[S-6] refuse each other without replace', async () => {
    const { cli, started } = await startCommand(300);
    void cli.call({ args: [fixture('silent')] }, { scope: 'chat' });
    await started;
    expect(await cli.call({ args: ['-p', '1'] }, { scope: 'chat' })).toMatchObject({
      failure: { kind: 'too_many_requests', reason: 'scope_busy', attempts: 0 },
    });
  });

  it('[S-6] are cancelled by it', async () => {
    const { gateway, cli, started } = await startCommand(300);
    const run = cli.call({ args: [fixture('silent')] }, { scope: 'chat' });
    const { pid } = await started;
    const exited = gateway.wait('process.exited');
    expect(cli.cancelScope('chat')).toBe(true);
    expect(await run).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await exited).toMatchObject({ pid, reason: 'cancelled' });
    expect(isAlive(pid)).toBe(false);
  });
});

describe('tool calls of one scope', () => {
  async function startTurns(options: ToolCallOptions) {
    const gateway = createGateway({ control: false });
    onTestFinished(() => gateway.stop());
    const hung = gateway.integration('search', {}, (_input, { signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    });
    gateway.session('main', {
      onMessage: (_message, turn) => {
        void turn.tool('search', 'query', 1, options);
        return turn.tool('search', 'query', 2, options);
      },
    });
    await gateway.start();
    return { gateway, hung };
  }

  it('[S-6] refuse each other', async () => {
    const { gateway } = await startTurns({ scope: 'chat' });
    const failed = gateway.wait('session.tool_failed');
    await gateway.session('main').send({ kind: 'message', text: 'go' });
    expect(await failed).toMatchObject({ kind: 'too_many_requests', tool: 'query' });
  });

  it('[S-6] replace each other where they say so, and are cancelled by their scope', async () => {
    const { gateway, hung } = await startTurns({ scope: 'chat', replace: true });
    const replaced = gateway.wait('session.tool_failed');
    await gateway.session('main').send({ kind: 'message', text: 'go' });
    expect(await replaced).toMatchObject({ kind: 'cancelled', message: 'Replaced by a newer call of the scope chat' });
    expect(hung.cancelScope('chat')).toBe(true);
  });

  it('[S-6] cannot replace without a scope', async () => {
    const { gateway } = await startTurns({ replace: true });
    const failed = gateway.wait('session.turn_ended');
    await gateway.session('main').send({ kind: 'message', text: 'go' });
    expect(await failed).toMatchObject({ ok: false });
  });
});
