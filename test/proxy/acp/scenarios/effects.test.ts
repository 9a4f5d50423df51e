import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../../src/policy/effects.ts';
import type { Outcome } from '../../../../src/policy/failures/failure.ts';
import type { McpAnswer } from '../../../../src/protocol/mcp/message.ts';
import { startAcp } from '../startAcp.ts';

const minute = 60_000;

type Acp = Awaited<ReturnType<typeof startAcp>>;

/** Has a prompt of a client in this process answered. */
function ask({ proxy }: Acp, text: string, effect: Effect | undefined): Promise<Outcome<McpAnswer>> {
  const params = { sessionId: 'session-1', prompt: [{ type: 'text', text }] };
  return new Promise((settled) =>
    proxy.prompt(
      { kind: 'request', id: 'p', key: 'sp', method: 'session/prompt', params },
      { settings: { effect }, settled },
    ),
  );
}

describe('what a turn may have done behind unwedge acp', () => {
  it.for([
    ['mutating', 1, 'unknown'],
    ['readOnly', 2, 'not_started'],
    [undefined, 2, 'not_started'],
  ] as const)(
    '[A-4] [R-5] a %s prompt of which nothing was told is sent %i times to an agent that dies of it',
    async ([effect, times, outcome]) => {
      const acp = await startAcp({ agent: { faults: [{ at: 'before', do: 'crash' }] } });
      await acp.open();
      const asked = ask(acp, 'say one', effect);
      await acp.clock.advance(2 * minute);
      expect(await asked).toMatchObject({ ok: false, failure: { kind: 'crash', outcome } });
      const prompts = acp.agents.flatMap(({ transcript }) =>
        transcript.filter(({ line }) => line.includes('"session/prompt"')),
      );
      expect(prompts).toHaveLength(times);
    },
  );

  it('[A-3] a circuit that failures of the model have opened stays open when the agent starts again', async () => {
    const acp = await startAcp({ agent: { faults: [{ do: 'error', code: 529, message: 'Overloaded' }] } });
    await acp.open();
    for (let id = 1; id <= 5; id++) {
      acp.prompt(id, 'say hi');
      await acp.settle();
    }
    acp.agents[0]?.kill();
    await acp.clock.advance(2000);
    acp.prompt(6, 'say hi');
    await acp.settle();
    expect(acp.agents).toHaveLength(2);
    expect(acp.answer(6)).toMatchObject({ error: { data: { 'unwedge/failure': { kind: 'circuit_open' } } } });
  });

  it('[A-3] an agent that does not end a cancelled turn is ended as soon as it had its time twice', async () => {
    const acp = await startAcp({
      cancelMs: 1000,
      agent: (start) => ({ faults: start === 1 ? [{ at: 'text', do: 'hang', scope: 'agent' }] : [] }),
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.cancel();
    acp.prompt(2, 'say two');
    await acp.clock.advance(3000);
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(acp.agents).toHaveLength(2);
    await acp.clock.advance(1000);
    expect(acp.answers(2)).toHaveLength(1);
  });

  it('[A-3] an operator restarts the agent by the name of its integration', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.registry.restart('faulty', {});
    await acp.clock.advance(5000);
    expect(acp.agents).toHaveLength(2);
  });

  it('[A-3] tells of a failure that asking again may help, where it may', async () => {
    const acp = await startAcp({
      errors: 'message',
      agent: { faults: [{ do: 'error', code: 529, message: 'Overloaded' }] },
    });
    const session = await acp.open();
    acp.prompt(1, 'say hi');
    await acp.settle();
    expect(acp.texts(session)).toMatch(/Overloaded: it failed; (?:it|trying) .*(?:may be tried again|may help)/);
  });
});
