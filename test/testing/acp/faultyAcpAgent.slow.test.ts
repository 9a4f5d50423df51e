import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FaultyAcpAgentOptions } from '../../../testing/index.ts';
import { converseWithProgram } from '../../support/acpWire.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

async function open(options: FaultyAcpAgentOptions = {}) {
  const peer = converseWithProgram(options);
  await peer.open();
  return peer;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the program of the ACP agent', () => {
  it('[A-7] is in the package, wherever the builder put the module that names it', async () => {
    const entry = new URL('../../../dist/testing/index.js', import.meta.url).href;
    const built = (await import(entry)) as typeof import('../../../testing/index.ts');
    expect(existsSync(String(built.faultyAcpAgent().args[0]))).toBe(true);
  });

  it('[A-7] plays a turn, keeps what it reads in a file, and ends with its stdin', async () => {
    const transcriptFile = join(temporaryDirectory(), 'transcript');
    const peer = await open({ transcriptFile });
    peer.prompt(1, 'say hello; tool look; think 0');
    expect(await peer.answer(1)).toMatchObject({ text: 'hello' });
    peer.prompt(2, 'wait 1000');
    peer.child.stdin.end();
    expect(await peer.exit).toEqual([0, null]);
    const lines = readFileSync(transcriptFile, 'utf8').trimEnd().split('\n');
    const read = lines.map((line) => JSON.parse(line) as { pid: number; atMs: number; line: string });
    expect(read.map(({ line }) => (JSON.parse(line) as { method: string }).method)).toEqual([
      'initialize',
      'session/new',
      'session/prompt',
      'session/prompt',
    ]);
    expect(read.every(({ pid, atMs }) => pid === peer.child.pid && atMs > 0)).toBe(true);
  });

  it('[A-7] dies by code or by itself, with its last words and half of a line', async () => {
    const byCode = await open({ faults: [{ do: 'crash', exitCode: 3, stderr: 'no memory' }] });
    byCode.prompt(1, 'say one');
    expect(await byCode.exit).toEqual([3, null]);
    expect(await byCode.error()).toBe('no memory');
    const byKill = await open({ faults: [{ do: 'crash', when: 'half', signal: 'SIGKILL' }] });
    byKill.prompt(1, 'say one');
    expect(await byKill.exit).toEqual([null, 'SIGKILL']);
    expect(byKill.raw()).toMatch(/\n\{"jsonrpc":"2.0","id":1[^}\n]*$/);
  });

  it('[A-7] finds its session again after it was killed', async () => {
    const stateFile = join(temporaryDirectory(), 'state');
    const first = await open({ stateFile });
    first.prompt(1, 'say hello; wait 1000');
    await first.until(({ method }) => method === 'session/update');
    first.child.kill('SIGKILL');
    await first.exit;
    const second = converseWithProgram({ stateFile });
    second.request(1, 'session/load', { sessionId: 'session-1', cwd: '/', mcpServers: [] });
    expect((await second.answer(1)).words).toEqual(['user_message_chunk', 'text', 'answer 1']);
  });

  it('[A-7] hears nothing more, and ends by a signal alone', async () => {
    const peer = await open({ faults: [{ at: 'text', do: 'hang', scope: 'agent' }] });
    peer.prompt(1, 'say one');
    await peer.until(({ method }) => method === 'session/update');
    peer.request(2, 'no/such');
    peer.child.stdin.end();
    // Time enough for one that still heard anything.
    await open();
    peer.child.kill('SIGTERM');
    expect(await peer.exit).toEqual([null, 'SIGTERM']);
    expect(peer.raw()).not.toContain('"id":2');
  });

  it('[A-7] ignores SIGTERM and the end of its stdin, or that in a turn alone', async () => {
    const stubborn = await open({ ignoreSigterm: true, stdinEnd: 'stay', stderr: 'up' });
    expect(await stubborn.error()).toBe('up');
    stubborn.child.stdin.end();
    stubborn.child.kill('SIGTERM');
    expect(await stubborn.error()).toBe('not now');
    stubborn.child.kill('SIGKILL');
    expect(await stubborn.exit).toEqual([null, 'SIGKILL']);
    const busy = await open({ like: 'gemini' });
    busy.prompt(1, 'say one; wait 0.3; say two');
    busy.child.stdin.end();
    expect((await busy.answer(1)).text).toBe('onetwo');
    expect(await busy.exit).toEqual([0, null]);
  });

  it.each([false, true])('[A-7] leaves a child behind, which holds its stdout: %s', async (holdsOutput) => {
    const peer = await open({ faults: [{ at: 'tool', do: 'child', holdsOutput, detached: holdsOutput }] });
    peer.prompt(1, 'tool look');
    const { text } = await peer.answer(1);
    const pid = Number(/^child (\d+)$/.exec(text)?.[1]);
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    peer.child.kill('SIGKILL');
    await peer.exit;
    expect(isAlive(pid)).toBe(true);
    // The pipe ends with the agent, unless its child has it.
    expect(holdsOutput || (await peer.line()) === undefined).toBe(true);
  });
});
