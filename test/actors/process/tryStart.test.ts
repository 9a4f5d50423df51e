import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { spawnFailure } from '../../../src/actors/process/spawnFailure.ts';
import { tryStart } from '../../../src/actors/process/tryStart.ts';
import { refuseStarts, shortages } from '../../support/refusedStarts.ts';
import { nextTurn, startProcess } from './startProcess.ts';

const options = { stdio: 'pipe', reject: false, buffer: false } as const;

describe.runIf(process.platform === 'linux').each(shortages)('a start that the system refuses by %s', (code, errno) => {
  it.each([
    ['execa', () => execa('true', [], options)],
    ['spawn', () => spawn('true', [], { stdio: 'pipe' })],
  ])('[S-4] is a failure of its call, and no error of this process: %s', async (_, start) => {
    const strays = vi.fn<(error: unknown) => void>();
    process.on('uncaughtException', strays);
    onTestFinished(() => void process.off('uncaughtException', strays));
    refuseStarts(errno);
    const started = tryStart<{ readonly pid?: number | undefined }>(start);
    const error = 'error' in started ? await started.error : undefined;
    expect(spawnFailure(error, { command: 'true' })).toMatchObject({ kind: 'transient', code, outcome: 'not_started' });
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    expect(strays).not.toHaveBeenCalled();
  });

  it('[S-4] ends the run as one that was not started', async () => {
    refuseStarts(errno);
    const exit = await startProcess('silent').done;
    expect(exit).toMatchObject({
      reason: 'spawn-error',
      error: { facts: { kind: 'transient', code, breaker: 'ignored' } },
    });
  });
});

describe('a start in a runtime that tells nobody of the processes it makes, as Bun', () => {
  it('[U-12] [S-4] fails by the error of the half made process, which reaches nobody else', async () => {
    const half = Object.assign(new EventEmitter(), { pid: undefined, stdio: [] }) as unknown as ChildProcess;
    const started = tryStart(() => half);
    const error = Object.assign(new Error('Executable not found in $PATH: "no-such"'), { code: 'ENOENT' });
    // It throws where nobody listens.
    half.emit('error', error);
    expect('error' in started ? await started.error : undefined).toBe(error);
  });
});
