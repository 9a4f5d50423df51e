import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writeOut } from '../../../cli/hook/hookMain.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** A host that takes what is written when the test says so, and what became of a write of 1 s to it. */
function start(data = 'decision', before = '') {
  const clock = new SimulatedClock();
  const held: (() => void)[] = [];
  const stream = new Writable({ write: (_chunk, _encoding, done) => void held.push(done) });
  if (before !== '') stream.write(before);
  let end: boolean | undefined;
  void writeOut(stream as NodeJS.WriteStream, data, 1000, clock).then((isWritten) => {
    end = isWritten;
  });
  const take = async (): Promise<void> => {
    held.shift()?.();
    await clock.settle();
  };
  return { clock, stream, take, end: () => end };
}

describe('the output of a hook', () => {
  it('[H-3] [I-3] is waited for until its host has taken it', async () => {
    const { clock, take, end } = start();
    await clock.advance(999);
    expect(end()).toBeUndefined();
    await take();
    expect(end()).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('[H-3] [I-1] is given up when the time of its host is over', async () => {
    const { clock, end } = start();
    await clock.advance(1000);
    expect(end()).toBe(false);
  });

  it('[H-3] is not waited for when its host is gone', async () => {
    const { clock, stream, end } = start();
    stream.destroy(new Error('EPIPE'));
    await clock.settle();
    expect(end()).toBe(true);
  });

  it('[H-3] is incomplete when there is no room for it', async () => {
    const { clock, stream, end } = start();
    stream.destroy(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    await clock.settle();
    expect(end()).toBe(false);
  });

  it('[H-3] is waited for when it was written before, while the hook went on', async () => {
    const { clock, take, end } = start('', 'written before');
    await clock.settle();
    expect(end()).toBeUndefined();
    await take();
    await take();
    expect(end()).toBe(true);
  });

  it('[H-3] that is none is not waited for', async () => {
    const { clock, end } = start('');
    await clock.settle();
    expect(end()).toBe(true);
  });
});
