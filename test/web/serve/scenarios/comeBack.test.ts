import { describe, expect, it } from 'vitest';
import { faultyServer } from '../../../support/faultyServer.ts';
import { newSchema } from '../../../store/startPostgres.ts';
import { eventsOf, type SeenEvent, startServed } from '../startServed.ts';

const echo = { tool: { server: 'kb', name: 'echo', arguments: { word: 'hello' } } };

async function until(events: AsyncGenerator<SeenEvent, undefined>, isLast: (event: SeenEvent) => boolean) {
  const seen: SeenEvent[] = [];
  for (let next = await events.next(); next.value !== undefined; next = await events.next()) {
    seen.push(next.value);
    if (isLast(next.value)) return seen;
  }
  throw new Error(`It ended: ${JSON.stringify(seen)}`);
}

const isEndOf =
  (turn: number) =>
  ({ data }: SeenEvent): boolean =>
    data.type === 'session.turn_ended' && data['turn'] === turn;

const turnsIn = (events: readonly SeenEvent[]) =>
  events.flatMap(({ data }) => (data.type.startsWith('session.turn_') ? [`${data.type} ${String(data['turn'])}`] : []));

/** A process of which a reader saw the beginning of the second turn, and which then went on for one more. */
async function startSeen(store?: string) {
  const served = await startServed({ servers: { kb: faultyServer() }, ...(store !== undefined && { store }) });
  await served.post('/v1/sessions', { id: 'a' });
  const reader = new AbortController();
  const events = eventsOf(await served.ask('/v1/sessions/a/events', { signal: reader.signal }));
  await served.send('a', echo);
  await served.send('a', echo);
  const seen = await until(events, ({ data }) => data.type === 'session.turn_started' && data['turn'] === 2);
  reader.abort();
  await served.send('a', echo);
  await served.serving.stop();
  return { ...served, last: seen.at(-1)?.id ?? '' };
}

const comeBack = ({ ask }: Pick<Awaited<ReturnType<typeof startServed>>, 'ask'>, last: string) =>
  ask('/v1/sessions/a/events', { headers: { 'last-event-id': last } });

describe('a reader of events that comes back after a restart', () => {
  it.each(['a file', 'PostgreSQL'])(
    '[G-18] [E-1] is told that it missed something, then what is on record, once, then what happens: %s',
    async (kind) => {
      const { store, last } = await startSeen(kind === 'a file' ? undefined : (await newSchema()).url);
      const served = await startServed({ servers: { kb: faultyServer() }, store });
      const events = eventsOf(await comeBack(served, last));
      const replayed = await until(events, isEndOf(3));
      await served.send('a', echo);
      const live = await until(events, isEndOf(4));
      expect(replayed[0]).toMatchObject({ event: 'missed', id: undefined });
      expect(replayed.slice(1).every(({ id, data }) => id !== undefined && data['replayed'] === true)).toBe(true);
      expect(live.some(({ data }) => data['replayed'] === true)).toBe(false);
      expect(turnsIn([...replayed, ...live])).toEqual([
        'session.turn_ended 2',
        'session.turn_started 3',
        'session.turn_ended 3',
        'session.turn_started 4',
        'session.turn_ended 4',
      ]);
      expect(replayed.at(-1)?.data).toMatchObject({
        session: 'serve:a',
        ok: true,
        elapsedMs: expect.any(Number) as number,
      });
      // Broken off in the middle of that it goes on there.
      const [, , third] = replayed.filter(({ data }) => data.type.startsWith('session.turn_'));
      const again = await until(eventsOf(await comeBack(served, third?.id ?? '')), isEndOf(4));
      expect(turnsIn(again)).toEqual(['session.turn_started 4', 'session.turn_ended 4']);
    },
  );

  it('[G-18] [E-1] gets nothing of a session that was erased', async () => {
    const { store, last } = await startSeen();
    const { runHere } = await import('../../../cli/startCli.ts');
    expect((await runHere(['forget', 'serve:a', '--yes', '--db', store])).code).toBe(0);
    const served = await startServed({ servers: { kb: faultyServer() }, store });
    await served.post('/v1/sessions', { id: 'a' });
    const events = eventsOf(await comeBack(served, last));
    await served.send('a', echo);
    expect(turnsIn(await until(events, isEndOf(1)))).toEqual(['session.turn_started 1', 'session.turn_ended 1']);
  });
});
