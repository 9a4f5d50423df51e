import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type ToolResult } from '../../../src/index.ts';
import { fixture } from '../../actors/process/startProcess.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** Makes the call of a killed gateway three times in the one that follows it, and twice in that after it. */
async function startAgain(when: 'kept' | 'answered' | 'given') {
  const store = join(temporaryDirectory(), 'gateway.sqlite');
  const { signal } = await execa(process.execPath, [fixture('lateGateway'), store, when], { reject: false });
  expect(signal).toBe('SIGKILL');
  const results: ToolResult[] = [];
  let made = 0;
  for (const calls of [3, 2]) {
    const gateway = createGateway({ store, control: false });
    onTestFinished(() => gateway.stop());
    gateway.integration('jobs', { keepMs: 600_000 }, () => `anew ${++made}`);
    const session = gateway.session('main', {
      async onMessage(message, turn) {
        // The message that the kill cut is delivered again.
        if (message.text !== 'ask') return;
        for (let call = 0; call < calls; call++) results.push(await turn.tool('jobs', 'build', { ref: 'main' }));
      },
    });
    await gateway.start();
    const sent = await session.send({ kind: 'user', text: 'ask' });
    if (sent.accepted) await sent.processed;
    await gateway.stop();
  }
  return { results, made };
}

describe('a late answer after kill -9', () => {
  it('[R-18] [I-5] is given once where nobody had asked for it, and never again', async () => {
    const { results, made } = await startAgain('answered');
    expect(results.map((result) => (result.status === 'ok' ? result.value : result.error))).toEqual([
      'built',
      'anew 1',
      'anew 2',
      'anew 3',
      'anew 4',
    ]);
    expect(results[0]).toMatchObject({
      joined: true,
      reconciled: expect.stringContaining('the same call was made') as unknown,
    });
    expect(made).toBe(4);
  });

  it('[R-18] is told as lost, once, where it had not come', async () => {
    const { results, made } = await startAgain('kept');
    expect(results[0]).toMatchObject({ status: 'error', outcome: 'unknown', joined: true });
    expect(made).toBe(4);
  });

  it('[R-18] is not given a second time', async () => {
    const { results, made } = await startAgain('given');
    expect(results.every(({ joined }) => joined === undefined)).toBe(true);
    expect(made).toBe(5);
  });
});
