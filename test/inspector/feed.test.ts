import { describe, expect, it } from 'vitest';
import { assign, fromCallback, setup } from 'xstate';
import { chartOf } from '../../src/inspector/chart.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import type { IntegrationEvent } from '../../src/machines/integrationEvents.ts';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { worker } from '../supervisor/actors.ts';
import { type AnyFrame, readNow, startFeed } from './startFeed.ts';

const breaker = {
  consecutiveFailures: 1,
  failureRatio: 0.5,
  windowSize: 50,
  windowMs: 60_000,
  minimumAttempts: 20,
  resetTimeoutMs: 1000,
  openFactor: 1,
  maxOpenMs: 1000,
  probes: 1,
  probeLeaseGraceMs: 5000,
};
const search = { id: 'integration:search', logic: integrationMachine, input: { name: 'search', breaker } };
const tally = { consecutive: 1, failures: 1, total: 1 };
const failed = { type: 'attempt.failed', generation: 0, at: 0, kind: 'transient', tally } as const;
const attempting = { type: 'calls.changed', attempts: 1, waiting: 0 } as const;
const attemptless: IntegrationEvent = { ...attempting, attempts: 0 };

const types = (frames: readonly AnyFrame[]): string[] => frames.map(({ type }) => type);
const actorNames = (frames: readonly AnyFrame[]) =>
  frames.filter(({ type }) => type === '@xstate.actor').map(({ name }) => name);

describe('the feed of a tree', () => {
  it('[O-6] shows who comes late every actor with its last snapshot, parents first', () => {
    const nested = { ...supervisorSpec('sessions', { children: [{ id: 'session:a', logic: worker }] }) };
    const { root, feed } = startFeed([search, nested]);
    root.send('integration:search', attempting);
    const frames = readNow(feed.open());
    expect(actorNames(frames)).toEqual(['root', 'integration:search', 'sessions', 'session:a']);
    const [top, integration] = frames.filter(({ type }) => type === '@xstate.actor');
    expect(integration).toMatchObject({ parentId: top?.sessionId, snapshot: { status: 'active', value: 'calling' } });
    expect(integration?.snapshot?.context).toMatchObject({ name: 'search', generation: 0 });
  });

  it('[O-6] says first whose machines they are', () => {
    const { feed } = startFeed([]);
    expect(readNow(feed.open())[0]).toEqual({ type: 'unwedge.hello', name: 'gateway.mjs', pid: 4711 });
  });

  it('[U-2] tells of each event, the transition that it makes, and the state that comes of it', () => {
    const { root, feed } = startFeed([search]);
    const stream = feed.open();
    readNow(stream);
    for (const event of [attempting, failed, { type: 'probe.requested', at: 9e9 }])
      root.send('integration:search', event);
    const answered: IntegrationEvent = { type: 'attempt.answered', generation: 2 };
    root.send('integration:search', answered);
    const frames = readNow(stream);
    expect(types(frames).slice(0, 3)).toEqual(['@xstate.event', 'unwedge.transition', '@xstate.snapshot']);
    const states = frames.flatMap(({ snapshot }) => snapshot?.value ?? []);
    expect(states).toEqual(['calling', 'open', 'half-open', 'idle']);
  });

  it('[O-6] tells the transitions that a machine takes, as its chart has them', () => {
    const { root, feed } = startFeed([search]);
    const stream = feed.open();
    readNow(stream);
    const waiting: IntegrationEvent = { ...attempting, attempts: 0, waiting: 1 };
    for (const event of [waiting, attempting]) root.send('integration:search', event);
    const taken = readNow(stream).flatMap((frame) => frame.taken ?? []);
    expect(taken.map(({ from, to }) => [from, to])).toEqual([
      ['idle', 'backoff'],
      ['backoff', 'calling'],
    ]);
    const { transitions } = chartOf(integrationMachine);
    for (const each of taken) expect(transitions).toContainEqual(each);
  });

  it('[O-6] shows an actor that starts while somebody watches, and its end', async () => {
    const { root, feed, clock } = startFeed([]);
    const stream = feed.open();
    readNow(stream);
    root.startChild({ id: 'run', logic: worker, restart: 'temporary' });
    const started = readNow(stream);
    expect(types(started)[0]).toBe('@xstate.actor');
    expect(started.at(-1)).toMatchObject({
      type: '@xstate.snapshot',
      snapshot: { status: 'active', value: 'running' },
    });
    root.send('run', { type: 'finish' });
    await clock.settle();
    const { sessionId } = started[0] ?? {};
    const last = readNow(stream).findLast((frame) => frame.sessionId === sessionId);
    expect(last).toMatchObject({ type: '@xstate.snapshot', snapshot: { status: 'done' } });
  });

  it('[O-6] shows what a machine died of by name and message', async () => {
    const { root, feed, crash, clock } = startFeed([{ id: 'a', logic: worker }]);
    const stream = feed.open();
    crash('a');
    await clock.settle();
    expect(readNow(stream)).toContainEqual(
      expect.objectContaining({
        type: '@xstate.event',
        sessionId: root.actor.sessionId,
        event: expect.objectContaining({
          error: expect.objectContaining({ name: 'Error', message: 'boom' }) as unknown,
        }) as unknown,
      }),
    );
  });

  it('[O-6] shows no slots: what they say comes from their machine', () => {
    const talks = setup({ actors: { link: fromCallback(({ sendBack }) => sendBack({ type: 'link.ready' })) } });
    const logic = talks.createMachine({ invoke: { id: 'link', src: 'link' }, on: { 'link.ready': {} } });
    const { root, feed } = startFeed([]);
    const stream = feed.open();
    root.startChild({ id: 'connection:kb', logic });
    const frames = readNow(stream);
    expect(actorNames(frames)).toEqual(['root', 'connection:kb']);
    const ready = frames.find(({ event }) => event?.type === 'link.ready');
    expect(ready?.sourceId).toBe(root.ref('connection:kb')?.sessionId);
  });

  it('[O-6] watches from the first viewer to the last, once for all of them', () => {
    const { feed, watching, discloses } = startFeed([search]);
    expect([watching(), discloses()]).toEqual([0, 0]);
    const streams = [feed.open(), feed.open()];
    expect([watching(), discloses(), feed.viewers]).toEqual([1, 1, 2]);
    streams[0]?.destroy();
    expect([watching(), feed.viewers]).toEqual([1, 1]);
    streams[1]?.destroy();
    expect([watching(), feed.viewers]).toEqual([0, 0]);
    feed.open();
    expect(watching()).toBe(1);
  });

  it('[O-6] tells a slow viewer how much it missed, and shows it what is there now', () => {
    const { root, feed } = startFeed([search], { maxWaiting: 4 });
    const stream = feed.open();
    for (let n = 0; n < 10; n++) root.send('integration:search', n % 2 === 0 ? attemptless : attempting);
    const frames = readNow(stream);
    const at = types(frames).indexOf('unwedge.gap');
    expect(frames[at]?.missed).toBeGreaterThan(20);
    expect(types(frames.slice(at))).toEqual(['unwedge.gap', 'unwedge.hello', '@xstate.actor', '@xstate.actor']);
    expect(frames.at(-1)?.snapshot?.value).toBe('calling');
    root.send('integration:search', attemptless);
    expect(readNow(stream).at(-1)?.snapshot?.value).toBe('idle');
  });

  it('[O-6] lets a viewer go that misses frames and reads nothing for 30 s', async () => {
    const { root, feed, clock } = startFeed([search], { maxWaiting: 4 });
    const stream = feed.open();
    root.send('integration:search', attempting);
    await clock.advance(29_999);
    expect(stream.destroyed).toBe(false);
    await clock.advance(1);
    expect([stream.destroyed, feed.viewers]).toEqual([true, 0]);
  });

  it('[O-6] keeps a viewer that has nothing to read, however long', async () => {
    const { feed, clock } = startFeed([search]);
    const stream = feed.open();
    readNow(stream);
    await clock.advance(3_600_000);
    expect(stream.destroyed).toBe(false);
  });

  it('[O-6] shows the first 500 actors, and says how many there are beyond', () => {
    const { root, feed } = startFeed([]);
    for (let n = 0; n < 502; n++) root.startChild({ id: `c${n}`, logic: worker });
    const frames = readNow(feed.open());
    expect(actorNames(frames)).toHaveLength(501);
    expect(frames.at(-1)).toEqual({ type: 'unwedge.more', actors: 2 });
  });

  it('[O-6] ends its streams when it closes, behind what waits, and opens no more', () => {
    const { feed } = startFeed([search]);
    const stream = feed.open();
    feed.close();
    expect(types(readNow(stream))).toEqual(['unwedge.hello', '@xstate.actor', '@xstate.actor', 'unwedge.end']);
    expect(() => feed.open()).toThrow('The gateway has stopped');
  });

  it('[V-7] does no harm to a machine whose context cannot be read', () => {
    const hostile = {
      get trap() {
        throw new Error('trap');
      },
    };
    const logic = setup({}).createMachine({
      context: { hostile: {} },
      on: { go: { actions: assign({ hostile }) } },
    });
    const { root, feed, told } = startFeed([{ id: 'a', logic }]);
    const stream = feed.open();
    readNow(stream);
    root.send('a', { type: 'go' });
    expect(readNow(stream).at(-1)?.snapshot?.context).toEqual({ hostile: { trap: '[unreadable]' } });
    expect(told('listener.failed')).toEqual([]);
  });
});
