import { describe, expect, it, vi } from 'vitest';
import type { AgentOptions } from '../../../../agents/conversation/agentTypes.ts';
import { eventsOf, startAgent } from '../startAgent.ts';

/** A turn in which Claude asks for leave to use Bash. */
async function startAsking(options: Partial<AgentOptions>) {
  const started = await startAgent(options);
  const { clock, sdk, converse } = started;
  const conversation = await converse();
  const turn = conversation.send('do it');
  await clock.settle();
  const context = { signal: new AbortController().signal, toolUseID: 'toolu_1', requestId: 'r-1' };
  const answer = Promise.resolve(sdk.at(0).canUseTool('Bash', { command: 'ls' }, context));
  await clock.settle();
  const end = (): Promise<unknown> => {
    sdk.at(0).answer('done');
    return turn.outcome;
  };
  return { ...started, conversation, turn, answer, end };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('leave to use a tool', () => {
  it('[H-4] is given by who approves, who is told what for', async () => {
    const approve = vi.fn<(request: object) => string>(() => 'accept');
    const { answer, turn, end } = await startAsking({ approve });
    expect(await answer).toEqual({ behavior: 'allow', updatedInput: { command: 'ls' } });
    expect(approve.mock.calls[0]?.[0]).toMatchObject({
      action: 'Bash: ls',
      payload: { tool: 'Bash', input: { command: 'ls' } },
    });
    const events = eventsOf(turn);
    await end();
    expect(await events).toEqual([
      { type: 'approval.requested', id: 'toolu_1', tool: 'Bash', action: 'ls' },
      { type: 'approval.resolved', id: 'toolu_1', tool: 'Bash', decision: 'accept', reason: undefined },
    ]);
  });

  it('[H-4] is declined, with a record, when nobody answers within 30 s', async () => {
    const { answer, clock, of, end } = await startAsking({ claude: { canUseTool: never } });
    let given: unknown;
    void answer.then((value) => {
      given = value;
    });
    await clock.advance(29_999);
    expect(given).toBeUndefined();
    await clock.advance(1);
    expect(given).toEqual({ behavior: 'deny', message: 'Nobody answered in time' });
    expect(of('approval.failed')).toMatchObject([{ approval: 'agent:coder', failure: 'timeout', action: 'Bash: ls' }]);
    await end();
  });

  it('[H-4] is declined, with a record, when who is asked throws or says nothing sensible', async () => {
    const throwing = await startAsking({
      claude: {
        canUseTool: () => {
          throw new Error('broken');
        },
      },
    });
    expect(await throwing.answer).toEqual({ behavior: 'deny', message: 'Asking for approval failed' });
    expect(throwing.of('approval.failed')).toMatchObject([{ failure: 'crash', error: 'broken' }]);
    const silent = await startAsking({ claude: { canUseTool: () => Promise.resolve(null) } });
    expect(await silent.answer).toMatchObject({ behavior: 'deny' });
    expect(silent.of('approval.failed')).toMatchObject([{ failure: 'unreadable' }]);
  });

  it("[H-4] passes what the SDK's own callback says as it is", async () => {
    const answers = [
      { behavior: 'allow', updatedInput: { command: 'ls -a' }, updatedPermissions: [{ type: 'setMode' }] },
      { behavior: 'deny', message: 'no', interrupt: true },
    ];
    for (const given of answers) {
      const canUseTool = vi.fn<(tool: string, input: object, context: object) => Promise<object>>(() =>
        Promise.resolve(given),
      );
      const { answer } = await startAsking({ claude: { canUseTool } });
      expect(await answer).toEqual(given);
      expect(canUseTool.mock.calls[0]?.[2]).toMatchObject({ toolUseID: 'toolu_1', requestId: 'r-1' });
    }
  });

  it('[G-14] is waited for beyond the idle limit', async () => {
    const { answer, clock, sdk, end } = await startAsking({ approve: never, approvalMs: 400_000 });
    await clock.advance(399_999);
    expect(sdk.at(0).interrupts).toBe(0);
    await clock.advance(1);
    expect(await answer).toMatchObject({ behavior: 'deny' });
    expect(await end()).toMatchObject({ ok: true });
  });

  it('[C-6] is no sign of life any more once it was given', async () => {
    const { answer, clock, sdk } = await startAsking({ approve: () => 'accept' });
    await answer;
    await clock.advance(119_999);
    expect(sdk.at(0).interrupts).toBe(0);
    await clock.advance(1);
    expect(sdk.at(0).interrupts).toBe(1);
  });

  it('[H-4] [I-3] is withdrawn when its turn is interrupted', async () => {
    const signals: AbortSignal[] = [];
    const approve = (_: unknown, { signal }: { signal: AbortSignal }): Promise<never> => {
      signals.push(signal);
      return never();
    };
    const { answer, conversation } = await startAsking({ approve });
    await conversation.interrupt();
    expect(await answer).toEqual({ behavior: 'deny', message: 'The question was withdrawn', interrupt: true });
    expect(signals[0]?.aborted).toBe(true);
  });

  it('[H-4] is not asked for where nobody approves', async () => {
    const { clock, sdk, converse } = await startAgent();
    void (await converse()).send('do it');
    await clock.settle();
    expect(sdk.at(0).canUseTool).toBeUndefined();
  });
});
