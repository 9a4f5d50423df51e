import { describe, expect, it } from 'vitest';
import { dualEra, modern } from '../conformance/modern.ts';
import { playOnce, unordered } from '../conformance/playOnce.ts';
import type { Transcript } from '../conformance/recording.ts';
import { ways } from '../conformance/ways.ts';

const scenarios = [...modern, ...dualEra].map((scenario) => [scenario.says, scenario] as const);

/** By HTTP a request is called off by leaving it, without a word. */
function spoken({ sent, received }: Transcript): Transcript {
  const isSaid = ({ method }: Transcript['sent'][number]): boolean =>
    method !== 'notifications/cancelled' && method !== 'notifications/progress';
  return { sent: sent.filter(isSaid), received: received.filter(isSaid) };
}

describe.each(ways)('a client of the era without a handshake, connected %s,', (way) => {
  it.each(scenarios)('[P-3] %s', async (_, scenario) => {
    const { received } = await playOnce(way, scenario);
    expect(received.length).toBeGreaterThan(0);
  });
});

describe('message by message, with the proxy and without it,', () => {
  it.each(scenarios)('[P-3] it is the same for a client that %s', async (_, scenario) => {
    const direct = await playOnce('directly', scenario);
    const proxied = await playOnce('through the proxy', scenario);
    expect(proxied.sent).toEqual(direct.sent);
    expect(proxied.received).toEqual(direct.received);
  });
});

describe('message by message, on stdio and by HTTP,', () => {
  it.each(scenarios)('[P-5] it is the same for a client of the stateless era that %s', async (_, scenario) => {
    const direct = await playOnce('directly', scenario);
    expect(unordered(spoken(await playOnce('by HTTP', scenario)))).toEqual(unordered(spoken(direct)));
  });
});
