import { describe, expect, it } from 'vitest';
import { dualEra, modern, playModern } from '../conformance/modern.ts';
import { ways } from '../conformance/ways.ts';

const scenarios = [...modern, ...dualEra].map((scenario) => [scenario.says, scenario] as const);

describe.each(ways)('a client of the era without a handshake, connected %s,', (way) => {
  it.each(scenarios)('[P-3] %s', async (_, scenario) => {
    const { received } = await playModern(way, scenario);
    expect(received.length).toBeGreaterThan(0);
  });
});

describe('message by message, with the proxy and without it,', () => {
  it.each(scenarios)('[P-3] it is the same for a client that %s', async (_, scenario) => {
    const direct = await playModern('directly', scenario);
    const proxied = await playModern('through the proxy', scenario);
    expect(proxied.sent).toEqual(direct.sent);
    expect(proxied.received).toEqual(direct.received);
  });
});
