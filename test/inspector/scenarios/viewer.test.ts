import { describe, expect, it } from 'vitest';
import { createViewer } from '../../../src/inspector/feed.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start(maxWaiting: number) {
  const clock = new SimulatedClock();
  let gone = 0;
  const viewer = createViewer({ clock, replay: () => ['"now"'], onGone: () => (gone += 1), maxWaiting });
  const read = (): unknown => viewer.stream.read();
  const readAll = (): unknown[] => {
    const all: unknown[] = [];
    for (let frame = read(); frame !== null; frame = read()) all.push(frame);
    return all;
  };
  return { clock, viewer, read, readAll, gone: () => gone };
}

describe('a viewer', () => {
  it('[O-6] has as many frames waiting as it may, and is told of those beyond', () => {
    const { viewer, readAll } = start(2);
    readAll();
    // One more is on its way in the stream.
    for (const frame of ['1', '2', '3', '4', '5']) viewer.tell(frame);
    expect(readAll()).toEqual(['1', '2', '3', '{"type":"unwedge.gap","missed":2}', '"now"']);
  });

  it('[O-6] that missed a frame misses the next ones too, until it is told', () => {
    const { viewer, read, readAll } = start(2);
    readAll();
    for (const frame of ['1', '2', '3', '4', '5']) viewer.tell(frame);
    expect(read()).toBe('1');
    viewer.tell('6');
    expect(readAll()).toEqual(['2', '3', '{"type":"unwedge.gap","missed":3}', '"now"']);
  });

  it('[O-6] that reads again is let go only after another 30 s without', async () => {
    const { viewer, clock, readAll, gone } = start(1);
    readAll();
    for (const frame of ['1', '2', '3']) viewer.tell(frame);
    await clock.advance(29_999);
    readAll();
    await clock.advance(30_000);
    expect(gone()).toBe(0);
    for (const frame of ['4', '5', '6']) viewer.tell(frame);
    await clock.advance(30_000);
    expect([gone(), viewer.stream.destroyed, clock.pending]).toEqual([1, true, 0]);
  });

  it('[O-6] hears nothing more once it has left', () => {
    const { viewer, gone } = start(2);
    viewer.stream.destroy();
    viewer.tell('1');
    viewer.end();
    expect([gone(), viewer.stream.readableLength]).toEqual([1, 0]);
  });
});
