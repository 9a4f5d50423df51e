import { expect, it } from 'vitest';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const minute = 60_000;

it('[A-8] [E-7] tells of each request under way its conversation, since when there is no content, and its limit', async () => {
  const proxy = await startApiProxy({
    script: [{ text: 'one two three four', until: 'text', then: 'pings', pingMs: 50 }, { do: 'hang' }],
  });
  expect(proxy.proxy.layers()).toEqual([]);
  const asked = proxy.ask({ headers: { 'x-claude-code-session-id': 's1' } });
  await asked.saw('one');
  proxy.clock.skip(minute);
  const [layer] = proxy.proxy.layers();
  expect(layer).toMatchObject({ kind: 'stream', by: 'unwedge api model', what: 'messages', conversations: ['s1'] });
  expect(layer?.silentMs).toBeGreaterThanOrEqual(minute);
  expect(layer?.silentMs).toBeLessThan(2 * minute);
  // Pings move the limit on bytes, and not this one.
  expect((layer?.silentMs ?? 0) + (layer?.limitInMs ?? 0)).toBe(5 * minute);
  asked.leave();
  await expect.poll(() => proxy.proxy.layers()).toEqual([]);
});

it('[A-8] [E-7] of a stream that has said nothing yet all is silence, and its limit that on the first content', async () => {
  const proxy = await startApiProxy({ script: [{ text: 'one', until: 'start', then: 'pings', pingMs: 10 }] });
  const asked = proxy.ask();
  await expect.poll(() => proxy.proxy.layers()[0]?.limitInMs ?? 0).toBeGreaterThan(9 * minute);
  proxy.clock.skip(minute);
  const [layer] = proxy.proxy.layers();
  expect(layer?.silentMs).toBe(layer?.sinceMs);
  expect(layer?.limitInMs).toBeLessThan(9 * minute);
  asked.leave();
});

it('[A-8] [E-7] of a request whose headers are awaited all is silence, where its answer is a stream', async () => {
  const proxy = await startApiProxy({ script: [{ do: 'hang', times: 2 }] });
  const asked = [proxy.ask(), proxy.ask({ body: streamed({ stream: false }) })];
  await expect.poll(() => proxy.api.requests.length).toBe(2);
  proxy.clock.skip(1000);
  const layers = proxy.proxy.layers();
  expect(layers.map(({ silentMs }) => Number(silentMs !== undefined)).toSorted((a, b) => a - b)).toEqual([0, 1]);
  for (const { silentMs, sinceMs, limitInMs, conversations } of layers) {
    expect(silentMs ?? sinceMs).toBeCloseTo(sinceMs, -2);
    expect(limitInMs).toBeGreaterThan(minute);
    expect(conversations).toEqual([]);
  }
  for (const each of asked) each.leave();
});
