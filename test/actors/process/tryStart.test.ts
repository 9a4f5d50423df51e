import { spawn } from 'node:child_process';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { spawnFailure } from '../../../src/actors/process/spawnFailure.ts';
import { tryStart } from '../../../src/actors/process/tryStart.ts';
import { nextTurn, startProcess } from './startProcess.ts';

interface ProcessWrap {
  readonly Process: { readonly prototype: { spawn: (...words: unknown[]) => number } };
}

/** Has the system refuse to start a process, as it does when it is short of something. */
function refuse(errno: number): void {
  const wrap = (process as unknown as { binding(name: string): ProcessWrap }).binding('process_wrap');
  const spy = vi.spyOn(wrap.Process.prototype, 'spawn').mockReturnValue(errno);
  onTestFinished(() => spy.mockRestore());
}

const options = { stdio: 'pipe', reject: false, buffer: false } as const;

describe.runIf(process.platform === 'linux').each([
  ['EMFILE', -24],
  ['ENFILE', -23],
  ['EAGAIN', -11],
  ['ENOMEM', -12],
])('a start that the system refuses by %s', (code, errno) => {
  it.each([
    ['execa', () => execa('true', [], options)],
    ['spawn', () => spawn('true', [], { stdio: 'pipe' })],
  ])('[S-4] is a failure of its call, and no error of this process: %s', async (_, start) => {
    const strays = vi.fn<(error: unknown) => void>();
    process.on('uncaughtException', strays);
    onTestFinished(() => void process.off('uncaughtException', strays));
    refuse(errno);
    const started = tryStart<{ readonly pid?: number | undefined }>(start);
    const error = 'error' in started ? await started.error : undefined;
    expect(spawnFailure(error, { command: 'true' })).toMatchObject({ kind: 'transient', code, outcome: 'not_started' });
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    expect(strays).not.toHaveBeenCalled();
  });

  it('[S-4] ends the run as one that was not started', async () => {
    refuse(errno);
    const exit = await startProcess('silent').done;
    expect(exit).toMatchObject({
      reason: 'spawn-error',
      error: { facts: { kind: 'transient', code, breaker: 'ignored' } },
    });
  });
});
