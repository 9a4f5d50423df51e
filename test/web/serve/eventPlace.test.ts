import { describe, expect, it } from 'vitest';
import type { Fact, Told } from '../../../src/policy/facts/facts.ts';
import { type EventRow, factOf, storedEvent } from '../../../src/store/face.ts';
import { SessionFeed } from '../../../web/serve/sessionFeed.ts';

/** A random sequence, the same for a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

const turnEnded = (session: string, turn: number, at: number): Told<Fact> => ({
  ...{
    type: 'session.turn_ended',
    session,
    turn,
    message: `${session}-m${turn}`,
    kind: 'user',
    ok: true,
    elapsedMs: 7,
  },
  at,
});

/** Processes, one after the other, that tell of two sessions and record it in the same store. */
function startHost() {
  const rows: EventRow[] = [];
  let feed = new SessionFeed();
  const tell = (session: string, fact: Told<Fact> | { type: 'agent'; text: number; at: number }): void => {
    const stored = storedEvent(fact as Told<Fact>);
    const { at } = fact;
    if (stored !== undefined)
      rows.push({ id: rows.length, at, category: stored.category, type: stored.eventType, metadata: stored.metadata });
    feed.tell(session, fact);
  };
  return {
    rows,
    tell,
    restart: () => void (feed = new SessionFeed()),
    read: (after?: string) => feed.read('a', after),
  };
}

describe('a reader that comes back', () => {
  it('[G-18] after a restart gets each event that is on record once, wherever it broke off, and those in memory behind them', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomOf(seed);
      const { rows, tell, read, restart } = startHost();
      let at = 1000;
      let turn = 0;
      const seen: unknown[] = [];
      let after: string | undefined;
      let reader = read();
      for (let step = 0; step < 60; step++) {
        const what = random(10);
        if (what < 5) tell('a', turnEnded('a', ++turn, at));
        else if (what === 5) tell('b', turnEnded('b', turn, at));
        else if (what === 6) tell('a', { type: 'agent', text: step, at });
        else if (what === 7) at += random(3);
        else if (what === 8) {
          // It takes some of what is there, and breaks off.
          for (const event of reader.replayed(rows.filter((row) => row.at >= (reader.since?.at ?? 0))))
            seen.push([event.data['turn'], (after = event.id)][0]);
          const waiting = (await Promise.race([reader.next(), Promise.resolve()])) ?? undefined;
          if (waiting?.value !== undefined) {
            after = waiting.value.id;
            if (waiting.value.data.type === 'session.turn_ended') seen.push(waiting.value.data['turn']);
          }
          await reader.return();
          reader = read(after);
        } else if (after !== undefined && random(3) === 0) {
          at += 10;
          restart();
          reader = read(after);
        }
      }
      const since = after === undefined ? 0 : Number(after.split('-')[2]);
      const again = read(after);
      for (const event of again.replayed(rows.filter((row) => row.at >= since))) seen.push(event.data['turn']);
      tell('a', { type: 'agent', text: -1, at });
      for (let next = await again.next(); next.value?.data['text'] !== -1; next = await again.next())
        if (next.value?.data.type === 'session.turn_ended') seen.push(next.value.data['turn']);
      const first = seen.length === 0 ? turn + 1 : Number(seen[0]);
      expect([seed, seen]).toEqual([seed, Array.from({ length: turn + 1 - first }, (_, index) => first + index)]);
    }
  });

  it('[G-18] gets what is on record as it was told', () => {
    const facts: readonly Told<Fact>[] = [
      turnEnded('a', 1, 5),
      {
        ...{ type: 'session.tool_failed', session: 'a', turn: 1, call: 'c', tool: 't', integration: 'kb', at: 6 },
        ...{ kind: 'timeout', retries: 0, synthetic: true, outcome: 'unknown', message: 'no answer' },
      },
      { type: 'session.late_result', session: 'a', turn: 1, call: 'c', tool: 't', at: 7 },
    ];
    for (const fact of facts) {
      const { category = '', eventType: type = '', metadata = {} } = storedEvent(fact) ?? {};
      const row = { id: 1, at: fact.at, category, type, metadata: { ...metadata, runtime_pid: 7 } };
      expect(factOf(row)).toEqual(fact);
    }
  });

  it('[G-18] with an id that nobody has given gets nothing of the records', () => {
    const { rows, tell, read } = startHost();
    tell('a', turnEnded('a', 1, 5));
    for (const id of ['', '7', 'a-b-c-d', '00000000-1', `x-1-${'9'.repeat(40)}-1`]) {
      const reader = read(id);
      expect([reader.missed, reader.since, reader.replayed(rows)]).toEqual([true, undefined, []]);
    }
  });
});
