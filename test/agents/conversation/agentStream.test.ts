import { describe, expect, it } from 'vitest';
import { createAgentStream } from '../../../agents/conversation/agentStream.ts';
import type { AgentEvent } from '../../../agents/conversation/agentTypes.ts';

const notice = (number: number): AgentEvent => ({ type: 'notice', message: String(number) });
const text = (words: string): AgentEvent => ({ type: 'text', text: words });

async function rest(stream: ReturnType<typeof createAgentStream>): Promise<AgentEvent[]> {
  stream.end();
  const events: AgentEvent[] = [];
  for await (const event of stream.iterator()) events.push(event);
  return events;
}

describe('the events of a turn', () => {
  it('[U-4] are read in their order, by who waits for them and by who comes late', async () => {
    const stream = createAgentStream();
    const first = stream.iterator().next();
    stream.push(notice(1));
    stream.push(notice(2));
    expect(await first).toEqual({ done: false, value: notice(1) });
    expect(await rest(stream)).toEqual([notice(2)]);
  });

  it('[U-4] keep text that nobody has read yet together', async () => {
    const stream = createAgentStream();
    for (const each of ['a', 'b', 'c']) stream.push(text(each));
    stream.push(notice(1));
    stream.push(text('d'));
    expect(await rest(stream)).toEqual([text('abc'), notice(1), text('d')]);
    expect(stream.missed).toBe(0);
  });

  it('[U-4] that nobody reads are bounded at 1,000, the oldest given up and counted', async () => {
    const stream = createAgentStream();
    for (let number = 1; number <= 1000; number++) stream.push(notice(number));
    expect(stream.missed).toBe(0);
    stream.push(notice(1001));
    stream.push(notice(1002));
    expect(stream.missed).toBe(2);
    const events = await rest(stream);
    expect(events).toHaveLength(1000);
    expect(events[0]).toEqual(notice(3));
  });

  it('[U-4] that nobody reads are bounded at a megabyte, the beginning of a long text given up', async () => {
    const stream = createAgentStream();
    for (let count = 0; count < 100; count++) stream.push(text('x'.repeat(50_000)));
    stream.push(text('END'));
    const [only, ...others] = await rest(stream);
    expect(others).toEqual([]);
    const words = only?.type === 'text' ? only.text : '';
    expect(words.length).toBeLessThanOrEqual(1_048_576);
    expect(words.length).toBeGreaterThan(500_000);
    expect(words.endsWith('END')).toBe(true);
    expect(stream.missed).toBeGreaterThan(0);
  });

  it('[U-4] forget what was read: a slow reader of small pieces misses nothing', async () => {
    const stream = createAgentStream();
    const reader = stream.iterator();
    for (let count = 0; count < 300; count++) {
      stream.push(text('x'.repeat(10_000)));
      await reader.next();
    }
    expect(stream.missed).toBe(0);
  });

  it('[I-3] end for who waits, and for who leaves', async () => {
    const stream = createAgentStream();
    const leaver = stream.iterator();
    const left = leaver.next();
    await leaver.return?.();
    expect(await left).toEqual({ done: true, value: undefined });
    stream.push(notice(1));
    const waiting = stream.iterator();
    expect(await waiting.next()).toEqual({ done: false, value: notice(1) });
    const last = waiting.next();
    stream.end();
    stream.push(notice(2));
    expect(await last).toEqual({ done: true, value: undefined });
  });
});
