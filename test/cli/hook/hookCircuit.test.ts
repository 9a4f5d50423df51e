import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHookCircuit } from '../../../cli/hook/hookCircuit.ts';
import type { Store } from '../../../src/store/store.ts';
import { deferred } from '../../support/deferred.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** The circuit of a hook whose database opens when the test says so; its work on that is counted. */
function startCircuit(limitMs: number) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const opened = deferred<Store>();
  const record = vi.fn<() => void>();
  const close = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const store = { record, close, breakers: { releaseProbe: () => undefined }, flush: () => Promise.resolve(true) };
  const circuit = createHookCircuit({
    ...{ name: 'guard', database: `${temporaryDirectory()}/hook.sqlite`, budgetMs: () => limitMs },
    open: () => opened.promise,
  });
  const failed = circuit.failed({ message: 'it crashed', counts: false } as never, undefined, { admitted: true });
  return { failed, record, close, open: () => opened.resolve(store as never) };
}

describe('the database of a hook', () => {
  it('[H-3] is waited for until its limit, and said to be late then', async () => {
    const { failed } = startCircuit(5000);
    let said: string | undefined;
    void failed.then((why) => (said = why));
    await vi.advanceTimersByTimeAsync(4999);
    await new Promise(setImmediate);
    expect(said).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(await failed).toBe('the database did not answer within 5s');
  });

  it('[H-3] that opens later is closed again, and nothing is put on record that was said not to be', async () => {
    const { failed, open, record, close } = startCircuit(5000);
    await vi.advanceTimersByTimeAsync(5000);
    await failed;
    open();
    await vi.waitFor(() => expect(close).toHaveBeenCalledOnce());
    expect(record).not.toHaveBeenCalled();
  });

  it('[H-3] that opens in time takes what is to be on record', async () => {
    const { failed, open, record } = startCircuit(5000);
    open();
    expect(await failed).toBeUndefined();
    expect(record).toHaveBeenCalledOnce();
  });

  it('[H-3] is not asked where there is no time left for it', async () => {
    const { failed, record } = startCircuit(0);
    expect(await failed).toBe('there was no time left for it');
    expect(record).not.toHaveBeenCalled();
  });
});
