import { describe, expect, it } from 'vitest';
import { type StartOptions, startAcp } from '../startAcp.ts';

const minute = 60_000;

describe('turns behind unwedge acp', () => {
  it('[A-3] passes a turn as it is, and its end', async () => {
    const acp = await startAcp();
    const session = await acp.open();
    acp.prompt(1, 'say hello; tool read; say done');
    await acp.settle();
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.texts(session)).toBe('hellodone');
    expect(acp.answers(1)).toHaveLength(1);
  });

  it("[A-1] [A-3] a text of failure of the user's own agent is the error that it is, in its kind", async () => {
    const own = {
      errorTexts: [{ begins: 'Out of luck: ', ends: 'Bye.' }],
      kinds: [{ pattern: 'luck', kind: 'quota' }],
    };
    const acp = await startAcp({
      command: '/opt/nova',
      agentProfiles: { nova: { commands: ['nova'], ...own } } as StartOptions['agentProfiles'],
      agent: { faults: [{ at: 'end', do: 'stop', text: 'Out of luck: no more. Bye.' }] },
    });
    await acp.open();
    acp.prompt(1, 'say half of it');
    await acp.settle();
    expect(acp.answers(1)).toMatchObject([{ error: { data: { 'unwedge/failure': { kind: 'quota' } } } }]);
  });

  it('[A-3] a turn without progress for the idle limit is an error with kind and cause, and its agent is told', async () => {
    const acp = await startAcp({ agent: { faults: [{ at: 'text', do: 'hang' }] } });
    await acp.open();
    acp.prompt(1, 'say hello');
    await acp.clock.advance(15 * minute - 1000);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(2000);
    expect(acp.answer(1)).toMatchObject({
      error: {
        message: expect.stringContaining('No progress within 15m') as string,
        data: { 'unwedge/failure': { kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown' } },
      },
    });
    expect(acp.heard().some(({ method }) => method === 'session/cancel')).toBe(true);
    expect(acp.facts('acp.turn_abandoned')).toMatchObject([{ why: 'limit' }]);
  });

  it('[A-3] a cancel that the agent does not hear is answered after 5 s; its late updates are dropped, the next prompt waits for it', async () => {
    const acp = await startAcp({
      agent: {
        faults: [
          { nth: 1, on: 'session/prompt', at: 'text', do: 'slow', ms: 8000 },
          { on: 'session/cancel', do: 'hang' },
        ],
      },
    });
    const session = await acp.open();
    acp.prompt(1, 'say one; say two');
    await acp.settle();
    acp.cancel();
    await acp.clock.advance(4900);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(200);
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'cancelled' } });
    acp.prompt(2, 'say three');
    await acp.clock.advance(1000);
    expect(acp.answer(2)).toBeUndefined();
    await acp.clock.advance(10_000);
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.texts(session)).toBe('onethree');
    expect(acp.answers(1)).toHaveLength(1);
  });

  it('[A-3] an agent that does not end a cancelled turn is started again, its session loaded, and the next prompt goes on', async () => {
    const state = {
      faults: [
        { at: 'text', do: 'hang' },
        { on: 'session/cancel', do: 'hang' },
      ],
    } as const;
    const acp = await startAcp({ agent: (start) => (start === 1 ? state : {}) });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.cancel();
    acp.prompt(2, 'say two');
    await acp.clock.advance(30_000);
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(acp.agents).toHaveLength(2);
    expect(acp.heard(2).map(({ method }) => method)).toEqual([
      'initialize',
      'session/load',
      'session/new',
      'session/prompt',
    ]);
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  it.each([
    ['allow_once', true],
    ['reject_once', false],
  ])(
    '[A-3] a tool that was asked about and told of when it is over alone is under way once the answer is %s: %s',
    async (optionId, isUnderWay) => {
      const acp = await startAcp({ agent: { announcesTools: false } });
      await acp.open();
      acp.prompt(1, 'say hello; ask shell 1800; wait 1800; say done');
      await acp.settle();
      const question = acp.messages.find(({ method }) => method === 'session/request_permission');
      acp.send({ id: question?.id, result: { outcome: { outcome: 'selected', optionId } } });
      await acp.clock.advance(14 * minute);
      expect(acp.answer(1)).toBeUndefined();
      await acp.clock.advance(2 * minute);
      expect(acp.answer(1) === undefined).toBe(isUnderWay);
      await acp.clock.advance(60 * minute);
      // The tool was no excuse for what came after it.
      expect(acp.answer(1)).toMatchObject({
        error: { message: expect.stringContaining('No progress within 15m') as string },
      });
    },
  );

  it('[A-3] a cancel just before the idle limit is answered as one, also where the agent is deaf to it', async () => {
    const acp = await startAcp({
      idleMs: 4000,
      agent: { faults: [{ at: 'text', do: 'hang', scope: 'agent' }] },
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.clock.advance(2000);
    acp.cancel();
    await acp.clock.advance(6000);
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'cancelled' } }]);
  });
});
