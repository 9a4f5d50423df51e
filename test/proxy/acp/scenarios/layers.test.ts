import { describe, expect, it } from 'vitest';
import type { LayerWhy } from '../../../../src/sessions/why.ts';
import { startAcp } from '../startAcp.ts';

const minute = 60_000;

/** A prompt whose agent says nothing more, above what `below` tells at each time, in ms since the prompt began. */
async function silentAbove(below: (atMs: number) => readonly LayerWhy[] | Promise<never>, prompt = 'say hello') {
  const asked: string[][] = [];
  const acp = await startAcp({
    agent: { faults: [{ at: 'text', do: 'hang' }] },
    layers: async (conversations) => {
      asked.push([...conversations]);
      return below(acp.clock.now() - begunAt);
    },
  });
  await acp.open();
  const begunAt = acp.clock.now();
  acp.prompt(1, prompt);
  return { ...acp, asked, waitsFor: () => acp.proxy.why().calls[0]?.waitsFor };
}

const stream = (silentMs: number | undefined, limitInMs?: number, conversation = 'session-1'): LayerWhy => ({
  ...{ kind: 'stream', by: 'unwedge api model', what: 'POST /v1/messages', sinceMs: 60 * minute },
  ...{ conversations: [conversation], silentMs, limitInMs },
});
const call = (limitInMs: number | undefined): LayerWhy => ({
  ...{ kind: 'call', by: 'unwedge mcp files', what: 'read_file', sinceMs: minute, limitInMs },
});

describe('one clock over the layers', () => {
  it('[A-8] content of the model below keeps a silent prompt for as long as it comes', async () => {
    const acp = await silentAbove((atMs) => (atMs < 40 * minute ? [stream(3000, 30_000)] : []));
    await acp.clock.advance(54 * minute);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(2 * minute);
    expect(acp.answer(1)).toMatchObject({ error: { message: expect.stringContaining('within 15m') as string } });
  });

  it('[A-8] [A-3] no content for 5 min, of a stream that no limit of its own ends, is the end after 5', async () => {
    const acp = await silentAbove((atMs) => [stream(atMs)]);
    await acp.clock.advance(5 * minute - 1000);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(40_000);
    expect(acp.answer(1)).toMatchObject({
      error: {
        message: expect.stringContaining('No content of the model within 5m, as `unwedge api` sees it') as string,
        data: { 'unwedge/failure': { kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown' } },
      },
    });
    expect(acp.heard().some(({ method }) => method === 'session/cancel')).toBe(true);
    expect(acp.facts('acp.turn_abandoned')).toMatchObject([{ why: 'limit' }]);
  });

  it('[A-8] a tool below that is within its limit keeps it', async () => {
    const acp = await silentAbove((atMs) => (atMs < 30 * minute ? [call(30 * minute - atMs)] : []));
    await acp.clock.advance(44 * minute);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(2 * minute);
    expect(acp.answer(1)?.error).toBeDefined();
  });

  it.for([
    ['a stream whose own limit comes first', (atMs: number) => [stream(atMs, 10 * minute - atMs)]],
    ['a stream beside one that is silent', (atMs: number) => [stream(atMs), stream(0, undefined)], 20],
    ['an answer whose content nobody sees', () => [stream(undefined)]],
    ['a call beside a stream that is silent', (atMs: number) => [stream(atMs), call(1000)], 20],
    ['a new request of the agent', (atMs: number) => [stream(atMs % (2 * minute) || minute)]],
    ['a stream of another conversation', (atMs: number) => [stream(atMs, undefined, 'another')]],
    ['nothing below', () => []],
  ] as const)('[A-8] 5 min are no end where there is %s', async ([, below, minutes = 14.9]) => {
    const acp = await silentAbove(below);
    await acp.clock.advance(minutes * minute);
    expect(acp.answer(1)).toBeUndefined();
  });

  it.for([
    ['fails', () => Promise.reject(new Error('no database'))],
    ['never answers', () => new Promise<never>(() => undefined)],
    ['tells of a call that has no limit', () => [call(undefined)]],
    ['tells of requests that have just begun', () => [{ ...stream(10), sinceMs: 20_000 }]],
    ['tells of content of another conversation', () => [stream(0, undefined, 'another')]],
  ] as const)('[A-8] asking that %s changes nothing', async ([, below]) => {
    const acp = await silentAbove(below);
    await acp.clock.advance(15 * minute - 1000);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(2000);
    expect(acp.answer(1)).toMatchObject({ error: { message: expect.stringContaining('within 15m') as string } });
  });

  it('[A-8] asks once in 30 s, of the prompts that are silent alone, and not where a tool or a person is waited for', async () => {
    const acp = await silentAbove(() => []);
    await acp.clock.advance(29_000);
    expect(acp.asked).toEqual([]);
    await acp.clock.advance(5 * minute);
    expect(acp.asked.length).toBeGreaterThanOrEqual(9);
    expect(acp.asked.length).toBeLessThanOrEqual(11);
    expect(new Set(acp.asked.flat())).toEqual(new Set(['session-1']));
    for (const prompt of ['tool build 600', 'ask edit']) {
      const other = await silentAbove(() => [stream(20 * minute)], prompt);
      await other.clock.advance(9 * minute);
      expect(other.asked).toEqual([]);
      expect(other.answer(1)).toBeUndefined();
    }
  });

  it('[A-8] why says what a prompt waits for: a person, a tool, the model; and what is nearly wedged', async () => {
    const thinks = await silentAbove(() => []);
    await thinks.clock.advance(40_000);
    expect(thinks.waitsFor()).toBe('the model thinks, last word 40s ago');
    await thinks.clock.advance(8 * minute - 40_000);
    expect(thinks.waitsFor()).toBe('silent for 8m: wedged if nothing comes in 7m');
    const works = await silentAbove(() => [], 'tool build 600');
    await works.clock.advance(3 * minute);
    expect(works.waitsFor()).toBe('waits for tool build for 3m');
    const asks = await silentAbove(() => [], 'ask edit');
    await asks.clock.advance(3 * minute);
    expect(asks.waitsFor()).toBe('waits for you (edit) for 3m');
  });
});
