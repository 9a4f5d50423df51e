import { describe, expect, it, vi } from 'vitest';
import { nextTurn } from './startProcess.ts';
import { refuseStarts, shortages } from '../../support/refusedStarts.ts';

interface ProcessWrap {
  readonly Process: { readonly prototype: { kill: (signal: number) => number } };
}

/** Signals that Node sends through a child of its own, also through one that is half made: its group is then the one of this process. */
function signalsSent() {
  const wrap = (process as unknown as { binding(name: string): ProcessWrap }).binding('process_wrap');
  return vi.spyOn(wrap.Process.prototype, 'kill').mockReturnValue(0);
}

describe.runIf(process.platform === 'linux').each(shortages)('a guard that the system refuses by %s', (code, errno) => {
  it('[S-4] signals nobody when it is released at once, and is told of', async () => {
    // The guard is one for the process: that of another test may be up.
    vi.resetModules();
    const { createChildGuard } = await import('../../../src/actors/process/childGuard.ts');
    refuseStarts(errno);
    const sent = signalsSent();
    const noop = (): void => {};
    const warn = vi.fn<(message: string) => void>();
    const guard = createChildGuard({ debug: noop, info: noop, warn, error: noop });
    guard.raise();
    guard.watch(process.pid)();
    guard.release();
    expect(sent).not.toHaveBeenCalled();
    const kept = createChildGuard({ debug: noop, info: noop, warn, error: noop });
    kept.raise();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(code));
    kept.release();
  });
});
