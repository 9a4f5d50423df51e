import { describe, expect, it } from 'vitest';
import type { Conversation } from '../../../agents/conversation/agentTypes.ts';
import { OpenConversations } from '../../../web/serve/openConversations.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start() {
  const clock = new SimulatedClock();
  const stopped: string[] = [];
  const open = new OpenConversations(clock);
  const conversation = (id: string): Conversation =>
    ({ id, stop: async () => void stopped.push(id) }) as unknown as Conversation;
  return { clock, stopped, open, conversation };
}

describe('conversations that are held open', () => {
  it('[E-1] are taken as they were put, once', () => {
    const { open, conversation } = start();
    const one = conversation('one');
    open.put('a', one);
    expect(open.take('a')).toBe(one);
    expect(open.take('a')).toBeUndefined();
  });

  it('[E-1] are let go when they were not used for five minutes, but not while they are', async () => {
    const { clock, open, stopped, conversation } = start();
    open.put('a', conversation('one'));
    open.put('b', conversation('two'));
    const used = open.take('b');
    await clock.advance(299_999);
    expect(stopped).toEqual([]);
    await clock.advance(1);
    expect(stopped).toEqual(['one']);
    await clock.advance(600_000);
    expect([stopped, used?.id]).toEqual([['one'], 'two']);
  });

  it('[E-1] are twenty at the most; the one that was used longest ago goes first', () => {
    const { open, stopped, conversation } = start();
    for (let count = 1; count <= 20; count++) open.put(`s${count}`, conversation(`c${count}`));
    open.put('s1', open.take('s1') ?? conversation('another'));
    open.put('s21', conversation('c21'));
    expect(stopped).toEqual(['c2']);
  });
});
