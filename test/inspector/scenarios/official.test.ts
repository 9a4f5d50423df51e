import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect';
import { describe, expect, it } from 'vitest';
import { integrationMachine } from '../../../src/machines/integration.ts';
import type { IntegrationEvent } from '../../../src/machines/integrationEvents.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import { worker } from '../../supervisor/actors.ts';
import { readNow, startFeed } from '../startFeed.ts';

type Plain = Readonly<Record<string, unknown>>;

const plain = (frame: StatelyInspectionEvent): Plain => JSON.parse(JSON.stringify(frame)) as Plain;

/** The same run, as the official inspector writes it and as we do. */
async function playBoth() {
  const theirs: Plain[] = [];
  const inspector = createInspector({ send: (frame) => void theirs.push(plain(frame)) });
  const { root, feed, clock } = startFeed([]);
  root.inspect((event) => inspector.inspect.next?.(event));
  const stream = feed.open();
  readNow(stream);
  const input = { name: 'search', breaker: resolvePolicy('search', undefined).breaker };
  root.startChild({ id: 'integration:search', logic: integrationMachine, input });
  root.startChild({ id: 'run', logic: worker, restart: 'temporary' });
  const attempting: IntegrationEvent = { type: 'calls.changed', attempts: 1, waiting: 0 };
  root.send('integration:search', attempting);
  root.send('integration:search', { type: 'integration.lost' });
  root.send('run', { type: 'finish' });
  await clock.settle();
  const ours = readNow(stream).filter(({ type }) =>
    type.startsWith('@xstate.'),
  ) as readonly object[] as readonly Plain[];
  // The official inspector writes each frame in a timer of its own.
  while (theirs.length < ours.length) await new Promise((resolve) => setImmediate(resolve));
  return { ours, theirs };
}

describe('our frames, beside those of the official inspector', () => {
  it('[O-6] are the same ones, of the same actors, in the same order', async () => {
    const { ours, theirs } = await playBoth();
    const outline = ({ type, sessionId, rootId, parentId, name, sourceId }: Plain): Plain => {
      return { type, sessionId, rootId, parentId, name, sourceId };
    };
    expect(ours.length).toBeGreaterThan(12);
    expect(ours.map(outline)).toEqual(theirs.map(outline));
  });

  it('[O-6] have the same fields', async () => {
    const { ours, theirs } = await playBoth();
    // What an actor is while it is made nobody knows: we say so, the official one leaves it out.
    const fields = (frame: Plain): string[] => Object.keys({ ...frame, snapshot: 0 }).sort();
    expect(ours.map(fields)).toEqual(theirs.map(fields));
    expect(new Set([...ours, ...theirs].map(({ _version }) => _version)).size).toBe(1);
  });

  it('[O-6] have the same events and states', async () => {
    const { ours, theirs } = await playBoth();
    const told = ({ event, snapshot }: Plain): unknown => [event, snapshot];
    const ofMachines = (frames: readonly Plain[]): readonly unknown[] =>
      // The official inspector reads an actor that is new only later, when it is a step ahead.
      frames.filter(({ type, sessionId, rootId }) => sessionId !== rootId && type !== '@xstate.actor').map(told);
    expect(ofMachines(ours)).toEqual(ofMachines(theirs));
  });

  it('[O-6] have the same definitions', async () => {
    const { ours, theirs } = await playBoth();
    const definitions = (frames: readonly Plain[]): readonly unknown[] =>
      frames.flatMap(({ definition }) =>
        definition === undefined ? [] : [JSON.parse(definition as string) as unknown],
      );
    expect(definitions(ours)).toEqual(definitions(theirs));
    expect(definitions(ours)).toHaveLength(2);
  });
});
