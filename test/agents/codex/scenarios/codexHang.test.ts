import { describe, expect, it } from 'vitest';
import { isSettled } from '../../../support/deferred.ts';
import { openThread, startThread } from '../startCodex.ts';

/** A thread whose app-server is stopped by the system: its pipes are open, and it reads nothing. */
async function startFrozen() {
  const started = await startThread();
  const connected = await started.codex.connect();
  const pid = connected.ok ? connected.value.pid : undefined;
  if (pid === undefined) throw new Error('It has no process');
  process.kill(pid, 'SIGSTOP');
  /** Listens to the next one alone. */
  const hearNext = (): void => {
    started.heard.length = 0;
    started.hear();
  };
  /** Once it has been found hung: a stopped process heeds SIGKILL alone. */
  const end = (): void => void process.kill(pid, 'SIGKILL');
  return { ...started, pid, hearNext, end };
}

const methods = (heard: readonly { readonly method?: string }[]) => heard.map(({ method }) => method);

describe('an app-server that is frozen', () => {
  it('[F-25] [M-6] is replaced while the thread is resumed, which succeeds within its one limit', async () => {
    const { codex, thread, clock, of, hearNext, heard, end } = await startFrozen();
    const resumed = codex.resumeThread(thread.id);
    await clock.advance(15_000);
    expect(of('codex.app_server.request.start').at(-1)).toMatchObject({ method: 'thread/list' });
    await clock.advance(4999);
    expect(of('codex.app_server.connection.error')).toEqual([]);
    await clock.advance(1);
    hearNext();
    expect(of('codex.app_server.connection.error')).toMatchObject([{ reason: 'hang' }]);
    end();
    expect(await resumed).toMatchObject({ ok: true, value: { id: thread.id, valid: true } });
    expect(methods(heard)).toEqual(['initialize', 'initialized', 'thread/resume']);
    expect(of('call.failed')).toEqual([]);
  });

  it('[F-25] [M-6] fails a resume at its limit when the next one does not come up before', async () => {
    const { codex, thread, clock, pid, wait, end } = await startFrozen();
    const resumed = codex.resumeThread(thread.id);
    await clock.advance(15_000);
    const starting = wait('process.started');
    await clock.advance(5000);
    end();
    const { pid: next } = await starting;
    expect(next).not.toBe(pid);
    process.kill(next, 'SIGSTOP');
    await clock.advance(9999);
    expect(await isSettled(resumed)).toBe(false);
    await clock.advance(1);
    expect(await resumed).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
  });

  it('[F-25] holds its threads until it is gone: the next one is not started before', async () => {
    const { codex, thread, clock, of, facts, end } = await startFrozen();
    const resumed = codex.resumeThread(thread.id);
    await clock.advance(20_000);
    const later = codex.listThreads();
    expect(await isSettled(later)).toBe(false);
    expect(of('process.started')).toHaveLength(1);
    end();
    expect(await resumed).toMatchObject({ ok: true });
    expect(await later).toMatchObject({ ok: true });
    const order = facts.map(({ type }) => type).filter((type) => type.startsWith('codex.app_server.connection.'));
    const [start, stop, error] = ['start', 'stop', 'error'].map((what) => `codex.app_server.connection.${what}`);
    expect(order).toEqual([start, error, stop, start]);
  });

  it('[F-25] is not asked for a new thread a second time: the first may have been made', async () => {
    const { codex, thread, clock, hearNext, heard, end } = await startFrozen();
    const made = codex.startThread();
    const resumed = codex.resumeThread(thread.id);
    await clock.advance(20_000);
    hearNext();
    end();
    expect(await made).toMatchObject({ failure: { kind: 'crash', reason: 'hang', outcome: 'unknown' } });
    expect(await resumed).toMatchObject({ ok: true });
    expect(methods(heard)).toEqual(['initialize', 'initialized', 'thread/resume']);
  });

  it('[M-6] has what is asked of it wait while it is asked for a sign of life, and sent to the next one alone', async () => {
    const { codex, thread, clock, hearNext, heard, end } = await startFrozen();
    const resumed = codex.resumeThread(thread.id);
    await clock.advance(15_000);
    const made = codex.startThread();
    await clock.advance(5000);
    hearNext();
    end();
    expect(await made).toMatchObject({ ok: true });
    await resumed;
    expect(methods(heard).filter((method) => method === 'thread/start')).toHaveLength(1);
  });
});

describe('an app-server that is asked for a sign of life, and gives it', () => {
  it.each([
    ['thread/resume', 30_000],
    ['skills/list', 30_000],
    ['config/read', 10_000],
  ])('[F-7] [F-25] is left alone: the answer to %s has its whole limit of %i ms', async (method, limitMs) => {
    const { codex, thread, clock, heardOf, of } = await startThread({ [method]: [[]] });
    const slow = method === 'thread/resume' ? codex.resumeThread(thread.id) : codex.request(method);
    await heardOf(method);
    await clock.advance(limitMs / 2);
    await heardOf('thread/list');
    await openThread(codex);
    await clock.advance(limitMs / 2 - 1);
    expect(await isSettled(slow)).toBe(false);
    await clock.advance(1);
    const message = `No answer to ${method} within ${limitMs / 1000}s`;
    expect(await slow).toMatchObject({ failure: { kind: 'timeout', message, attempts: 1 } });
    expect(await codex.startThread()).toMatchObject({ ok: true });
    expect(of('process.started')).toHaveLength(1);
  });
});
