import { describe, expect, it } from 'vitest';
import { everything } from '../conformance/everything.ts';
import { others } from '../conformance/others.ts';
import type { Transcript } from '../conformance/recording.ts';
import { play, type Scenario } from '../conformance/session.ts';
import { type Way, ways } from '../conformance/ways.ts';

const scenarios = [...everything, ...others].map((scenario) => [scenario.says, scenario] as const);
const played = new Map<string, Promise<Transcript>>();

/** Each once: what has been played can be compared. */
function playOnce(way: Way, scenario: Scenario): Promise<Transcript> {
  const key = `${way}: ${scenario.says}`;
  const transcript = played.get(key) ?? play(way, scenario);
  played.set(key, transcript);
  return transcript;
}

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
