import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { showProgress } from '../../workflow/progress.ts';
import type { WorkflowProgress } from '../../workflow/workflowTypes.ts';
import { isSettled } from '../support/deferred.ts';
import { ScriptedRun } from './scriptedRun.ts';

/** What is written to it, in one text. */
class Screen extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;

  constructor(isTTY = false, columns = 40) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const running: WorkflowProgress['running'] = [{ id: 'b', action: 'do b', attempt: 1, maxAttempts: 3 }];

describe('progress on no terminal', () => {
  it('is a line for each item that ends', async () => {
    const run = new ScriptedRun();
    const screen = new Screen();
    run.item('a', { status: 'running' });
    run.item('a');
    run.tell({ type: 'workflow_fallback', data: { from: 'primary', to: 'second', reason: 'no key' } });
    run.item('b', { status: 'skipped', backend: 'second' });
    run.end('2 of 3 items are done');
    await showProgress(run, screen, { rewrite: false });
    expect(screen.text).toBe(
      '2 of 3 · done: do a · primary\nprimary → second · no key\n3 of 3 · skipped: do b · second\n2 of 3 items are done\n',
    );
  });

  it('says how much it does not show', async () => {
    const run = new ScriptedRun();
    const screen = new Screen();
    for (let count = 0; count < 1_001; count++) run.item(`i${count}`, { status: 'running' });
    run.end('over');
    await showProgress(run, screen);
    expect(screen.text).toBe('(2 events not shown)\nover\n');
  });
});

describe('progress on a terminal', () => {
  it('is one line that is rewritten, and the result', async () => {
    const run = new ScriptedRun();
    const screen = new Screen(true);
    const shown = showProgress(run, screen);
    run.progress = { ...run.progress, running };
    run.item('a');
    await turn();
    expect(screen.text).toBe('\r\u001b[2K1 of 3 · do b · primary');
    run.end('All 3 items are done');
    await shown;
    expect(screen.text).toBe('\r\u001b[2K1 of 3 · do b · primary\r\u001b[2KAll 3 items are done\n');
  });

  it('leaves a line for what failed', async () => {
    const run = new ScriptedRun();
    const screen = new Screen(true, 80);
    void showProgress(run, screen);
    run.item('a', { status: 'failed', error: 'HTTP 503' });
    await turn();
    expect(screen.text).toBe(
      '\r\u001b[2K1 of 3 · failed: do a (attempt 1 of 3) · HTTP 503 · primary\n1 of 3 · primary',
    );
  });

  it('does not write the same line again', async () => {
    const run = new ScriptedRun();
    const screen = new Screen(true);
    void showProgress(run, screen);
    run.progress = { ...run.progress, ended: -1 };
    run.item('a');
    run.progress = { ...run.progress, ended: -1 };
    run.item('b');
    await turn();
    expect(screen.text).toBe('\r\u001b[2K0 of 3 · primary');
  });

  it('is taken away when the events end without a result', async () => {
    const run = new ScriptedRun();
    const screen = new Screen(true);
    const shown = showProgress(run, screen);
    run.item('a');
    await turn();
    run.progress = { ...run.progress, phase: 'ended' };
    run.wake();
    await shown;
    expect(screen.text).toBe('\r\u001b[2K1 of 3 · primary\r\u001b[2K');
  });

  it('is lines where the terminal cannot go back', async () => {
    vi.stubEnv('TERM', 'dumb');
    const run = new ScriptedRun();
    const screen = new Screen(true);
    run.end('over');
    await showProgress(run, screen);
    vi.unstubAllEnvs();
    expect(screen.text).toBe('over\n');
  });

  it('has 80 columns where the terminal does not say', async () => {
    const run = new ScriptedRun();
    const screen = new Screen(true, 0);
    void showProgress(run, screen);
    run.item('a', { backend: 'b' });
    await turn();
    expect(screen.text).toBe('\r\u001b[2K1 of 3 · primary');
  });

  it('leaves the last column free, so that the line does not break', async () => {
    const run = new ScriptedRun();
    const screen = new Screen(true, 16);
    void showProgress(run, screen);
    run.item('a');
    await turn();
    expect(screen.text).toBe('\r\u001b[2K1 of 3 · prima…');
  });
});

describe('a stream that is gone', () => {
  it('ends the showing, and nothing else', async () => {
    const run = new ScriptedRun();
    const screen = new Screen();
    const shown = showProgress(run, screen);
    screen.destroy(new Error('EPIPE'));
    await shown;
    expect(run.readers).toBe(0);
    await turn();
    expect([screen.listenerCount('error'), screen.listenerCount('close')]).toEqual([0, 0]);
  });

  it('may have been gone before', async () => {
    const run = new ScriptedRun();
    const gone = new PassThrough();
    gone.destroy();
    await showProgress(run, gone);
    expect(run.readers).toBe(0);
  });

  it('is written to only when it has taken what it got', async () => {
    const run = new ScriptedRun();
    const slow = new Writable({ highWaterMark: 1, write: () => undefined });
    void showProgress(run, slow, { rewrite: false });
    for (const id of ['a', 'b', 'c']) run.item(id);
    await turn();
    expect(slow.writableLength).toBe('1 of 3 · done: do a · primary\n'.length + 2);
  });

  it('is waited for until it took everything', async () => {
    const run = new ScriptedRun();
    let read: () => void = () => undefined;
    const slow = new Writable({ write: (_chunk, _encoding, done) => void (read = done) });
    run.end();
    const shown = showProgress(run, slow);
    expect(await isSettled(shown)).toBe(false);
    read();
    await shown;
  });

  it('[I-3] is left open when the run has ended, without a listener', async () => {
    const run = new ScriptedRun();
    const screen = new Screen();
    const listeners = screen.eventNames();
    run.end();
    await showProgress(run, screen);
    expect([screen.eventNames(), screen.writableEnded]).toEqual([listeners, false]);
  });
});

describe('wrong arguments', () => {
  it('are named at once', () => {
    expect(() => showProgress({} as never, new Screen())).toThrow('Expected `run.events` to be a function');
    expect(() => showProgress(new ScriptedRun(), {} as never)).toThrow('Expected `stream.write` to be a function');
    expect(() => showProgress(new ScriptedRun(), new Screen(), { rewrites: true } as never)).toThrow('rewrite');
  });
});
