import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SignalFanout } from '../../src/calls/signalFanout.ts';

describe('the fan-out of a signal', () => {
  it('[R-8] puts one listener on a signal that many calls share', () => {
    const { signal } = new AbortController();
    const fanout = new SignalFanout();
    for (let index = 0; index < 100; index++) fanout.watch(signal, { aborted: () => undefined });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  });

  it('[I-3] takes its listener away with the last watcher', () => {
    const { signal } = new AbortController();
    const fanout = new SignalFanout();
    const watchers = [{ aborted: () => undefined }, { aborted: () => undefined }];
    for (const watcher of watchers) fanout.watch(signal, watcher);
    for (const watcher of watchers) fanout.unwatch(signal, watcher);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('tells each watcher once, with the reason', () => {
    const controller = new AbortController();
    const fanout = new SignalFanout();
    const heard: unknown[] = [];
    fanout.watch(controller.signal, { aborted: (reason) => heard.push(reason) });
    fanout.watch(controller.signal, { aborted: (reason) => heard.push(reason) });
    controller.abort('enough');
    expect(heard).toEqual(['enough', 'enough']);
  });
});
