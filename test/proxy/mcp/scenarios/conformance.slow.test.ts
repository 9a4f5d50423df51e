import { describe, expect, it } from 'vitest';
import { everything } from '../conformance/everything.ts';
import { others } from '../conformance/others.ts';
import { playOnce, unordered } from '../conformance/playOnce.ts';
import { ways } from '../conformance/ways.ts';

const scenarios = [...everything, ...others].map((scenario) => [scenario.says, scenario] as const);

describe.each(ways)('the official client, connected %s,', (way) => {
  it.each(scenarios)('[P-3] %s', async (_, scenario) => {
    const { received } = await playOnce(way, scenario);
    expect(received.length).toBeGreaterThan(0);
  });
});

describe('message by message, with the proxy and without it,', () => {
  it.each(scenarios)('[P-3] it is the same when the client %s', async (_, scenario) => {
    const direct = await playOnce('directly', scenario);
    const proxied = await playOnce('through the proxy', scenario);
    expect(proxied.sent).toEqual(direct.sent);
    expect(proxied.received).toEqual(direct.received);
  });
});

describe('message by message, on stdio and by HTTP,', () => {
  it.each(scenarios)('[P-5] it is the same when the client %s', async (_, scenario) => {
    const direct = await playOnce('directly', scenario);
    expect(unordered(await playOnce('by HTTP', scenario))).toEqual(unordered(direct));
  });
});
