import { describe, expect, it } from 'vitest';
import type { Frame } from '../../../web/dashboard/changes.ts';
import { Feed } from '../../../web/dashboard/feed.ts';
import type { Snapshot } from '../../../web/dashboard/snapshot.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start() {
  const clock = new SimulatedClock();
  const world = { looks: 0, trouble: '', names: ['kb', 'mail'], inFlight: 0 };
  const feed = new Feed({
    clock,
    source: {
      snapshot: (spanMs) => {
        world.looks += 1;
        if (world.trouble !== '') return Promise.reject(new Error(world.trouble));
        const none = { runtimes: [], sessions: [], waits: [], alerts: [], bulks: [] };
        const integrations = world.names.map((key) => ({
          ...{ key, circuit: 'closed' as const, waiting: 0, runtimes: [], failures10m: 0, crashes10m: 0 },
          inFlight: key === 'kb' ? world.inFlight : 0,
        }));
        const snapshot: Snapshot = {
          at: world.looks,
          title: 'gateway',
          database: '/db',
          spanMs,
          letters: 0,
          ...none,
          integrations,
        };
        return Promise.resolve(snapshot);
      },
    },
  });
  /** A page that reads what it is told, at once. */
  const watch = (spanMs = 1) => {
    const frames: Frame[] = [];
    const stream = feed.open(spanMs, 'all');
    stream.on('data', (text: string) => frames.push(JSON.parse(text) as Frame));
    return { frames, stream };
  };
  return { clock, world, feed, watch };
}

describe('what pages are told', () => {
  it('[O-13] is how things are, then the rows that have changed, and nothing while nothing does', async () => {
    const { clock, world, watch } = start();
    const { frames } = watch();
    await clock.advance(3000);
    expect(frames.map(({ type }) => type)).toEqual(['all']);
    world.inFlight = 3;
    world.names = ['kb'];
    await clock.advance(1000);
    expect(frames[1]).toMatchObject({
      type: 'change',
      change: { lists: { integrations: { put: [{ key: 'kb', inFlight: 3 }], gone: ['mail'] } } },
    });
    expect(Object.keys((frames[1] as Extract<Frame, { type: 'change' }>).change.lists)).toEqual(['integrations']);
  });

  it('[O-13] costs nothing while nobody looks', async () => {
    const { clock, world, feed, watch } = start();
    await clock.advance(5000);
    expect(world.looks).toBe(0);
    const { stream } = watch();
    await clock.advance(2500);
    expect(world.looks).toBe(3);
    stream.destroy();
    await clock.advance(5000);
    expect([world.looks, feed.viewers]).toEqual([3, 0]);
  });

  it('[O-13] is what a page that did not read has missed, at once', async () => {
    const { clock, world, feed } = start();
    const stream = feed.open(1, 'read');
    await clock.advance(1000);
    for (const inFlight of [1, 2, 3]) {
      world.inFlight = inFlight;
      await clock.advance(1000);
    }
    const read = () => JSON.parse(String(stream.read())) as Frame;
    expect(read()).toMatchObject({ type: 'all', right: 'read' });
    await clock.advance(2000);
    expect(read()).toMatchObject({ change: { lists: { integrations: { put: [{ inFlight: 3 }] } } } });
    expect(stream.read()).toBeNull();
    feed.close();
  });

  it('[O-13] is once why nothing can be told, and everything when it can be again', async () => {
    const { clock, world, watch } = start();
    const { frames } = watch();
    await clock.advance(1000);
    world.trouble = 'Cannot read /db: disk I/O error';
    await clock.advance(3000);
    world.trouble = '';
    await clock.advance(1000);
    expect(frames.map(({ type }) => type)).toEqual(['all', 'problem', 'all']);
    expect(frames[1]).toMatchObject({ message: 'Cannot read /db: disk I/O error' });
  });

  it('[O-13] has figures of the span that each page asked for', async () => {
    const { clock, watch } = start();
    const pages = [watch(60_000), watch(3_600_000)];
    await clock.advance(1000);
    expect(pages.map(({ frames }) => (frames[0] as Extract<Frame, { type: 'all' }>).snapshot.spanMs)).toEqual([
      60_000, 3_600_000,
    ]);
  });
});
