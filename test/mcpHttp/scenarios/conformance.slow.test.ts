import { describe, expect, it } from 'vitest';
import { everything } from '../../mcpProxy/conformance/everything.ts';
import { dualEra, modern, playModern } from '../../mcpProxy/conformance/modern.ts';
import { others } from '../../mcpProxy/conformance/others.ts';
import type { Transcript } from '../../mcpProxy/conformance/recording.ts';
import { play } from '../../mcpProxy/conformance/session.ts';

const scenarios = [...everything, ...others].map((scenario) => [scenario.says, scenario] as const);
const modernScenarios = [...modern, ...dualEra].map((scenario) => [scenario.says, scenario] as const);

/** What came by several connections has no order, and each client has ids of its own. */
function unordered({ sent, received }: Transcript): {
  readonly sent: readonly string[];
  readonly received: readonly string[];
} {
  // On stdio the client asks a server of its own for its era, of which the transport knows nothing.
  const texts = (messages: Transcript['sent']): readonly string[] =>
    messages
      .filter(({ id }) => id !== 'server-discover-probe-1')
      .map((each) => JSON.stringify(each))
      .toSorted();
  return { sent: texts(sent), received: texts(received) };
}

/** By HTTP a request is called off by leaving it, without a word. */
function spoken({ sent, received }: Transcript): Transcript {
  const isSaid = ({ method }: Transcript['sent'][number]): boolean =>
    method !== 'notifications/cancelled' && method !== 'notifications/progress';
  return { sent: sent.filter(isSaid), received: received.filter(isSaid) };
}

describe('message by message, on stdio and by HTTP,', () => {
  it.each(scenarios)('[P-5] it is the same when the client %s', async (_, scenario) => {
    const direct = await play('directly', scenario);
    expect(unordered(await play('by HTTP', scenario))).toEqual(unordered(direct));
  });

  it.each(modernScenarios)('[P-5] it is the same for a client of the stateless era that %s', async (_, scenario) => {
    const direct = await playModern('directly', scenario);
    expect(unordered(spoken(await playModern('by HTTP', scenario)))).toEqual(unordered(spoken(direct)));
  });
});
