import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Agent, type AgentOptions, agentKind, createAgent } from '../../../../agents/conversation/index.ts';
import { markRetried } from '../../../../src/calls/workSignal.ts';
import { createGateway } from '../../../../src/index.ts';
import { unwrap } from '../../../../src/policy/failures/failure.ts';
import type { FaultyAcpAgentOptions } from '../../../../testing/index.ts';
import { workflowKind } from '../../../../workflow/workflow.ts';
import { builtAcpAgent } from '../../../support/acpWire.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { begin, eventsOf } from '../startAgent.ts';

function startFaulty(faulty: FaultyAcpAgentOptions = {}, options: Partial<AgentOptions> = {}): Agent {
  const { command, args } = builtAcpAgent({ stateFile: join(temporaryDirectory(), 'state.json'), ...faulty });
  const agent = createAgent({
    name: 'coder',
    store: ':memory:',
    ...options,
    acp: { command, args, cancelMs: 500, ...options.acp },
  });
  onTestFinished(() => agent.stop());
  return agent;
}

describe('an agent over the Agent Client Protocol', () => {
  it('[A-4] [U-4] answers a turn with what is said last, with its events in order', async () => {
    const conversation = await begin(startFaulty());
    const turn = conversation.send('think 0; say hello there; tool build; say done');
    const events = await eventsOf(turn);
    const types = events.map(({ type }) => type);
    // Pieces of text that wait for their reader are one.
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      ...['reasoning', 'text', 'tool.started', 'tool.ended', 'text'],
    ]);
    expect(unwrap(await turn.outcome)).toMatchObject({
      ...{ text: 'done', backend: 'acp', agent: 'coder', effects: 'possible', calls: { tools: 1 } },
      id: conversation.id,
    });
  });

  it.for([
    ['accept', 'edit is done', 'accept'],
    ['decline', 'Denied', 'decline'],
    ['nobody', 'Denied', 'decline'],
  ] as const)('[A-4] [U-4] a permission is asked of the handler: %s', async ([answer, , decision]) => {
    const asked: unknown[] = [];
    const approve = (question: unknown) => {
      asked.push(question);
      return answer;
    };
    const agent = startFaulty(
      {},
      answer === 'nobody' ? {} : { approve: approve as NonNullable<AgentOptions['approve']> },
    );
    const turn = (await begin(agent)).send('ask edit');
    const events = await eventsOf(turn);
    expect((await turn.outcome).ok).toBe(true);
    expect(events.find(({ type }) => type === 'approval.resolved')).toMatchObject({ tool: 'execute', decision });
    expect(asked).toHaveLength(answer === 'nobody' ? 0 : 1);
  });

  it('[A-4] [U-4] is interrupted within its time, also where the agent does not hear it, and goes on', async () => {
    const agent = startFaulty({ faults: [{ start: 1, at: 'text', do: 'hang', scope: 'agent' }] });
    const conversation = await begin(agent);
    const turn = conversation.send('say hello');
    for await (const event of turn) if (event.type === 'text') break;
    await conversation.interrupt();
    expect(await turn.outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    expect(unwrap(await conversation.send('say again').outcome).text).toBe('again');
  });

  it('[A-4] [U-4] is told of a crash with what is known of its tools, and goes on in the same conversation', async () => {
    const conversation = await begin(startFaulty({ faults: [{ start: 1, at: 'tool', do: 'crash' }] }));
    const outcome = await conversation.send('tool deploy').outcome;
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'crash', outcome: 'unknown' } });
    expect(unwrap(await conversation.send('say again').outcome).text).toBe('again');
  });

  it.for(['before', 'after'] as const)(
    '[A-4] [U-4] takes a conversation up again by its id: its past, told %s, is no answer',
    async (replay) => {
      const stateFile = join(temporaryDirectory(), 'state.json');
      const first = startFaulty({ stateFile });
      const conversation = await begin(first);
      unwrap(await conversation.send('say one').outcome);
      await first.stop();
      const resumed = await begin(startFaulty({ stateFile, replay }), conversation.id);
      expect(resumed.id).toBe(conversation.id);
      expect(unwrap(await resumed.send('say two').outcome).text).toBe('two');
    },
  );

  it('[A-4] [R-11] hands over to a fallback of any kind where it fails as the text says, and not where it acted', async () => {
    const gateway = createGateway({ store: ':memory:', control: false, kinds: [agentKind] });
    onTestFinished(() => gateway.stop());
    await gateway.start();
    const lying: FaultyAcpAgentOptions = {
      faults: [
        { prompt: 'overloaded', do: 'stop', text: 'Ran into this error: 529 Overloaded' },
        { prompt: 'tool', at: 'tool', do: 'crash' },
      ],
    };
    const fallback = gateway.agent('second', { acp: builtAcpAgent() });
    const agent = gateway.agent('first', { acp: builtAcpAgent(lying), fallback });
    const conversation = await begin(agent);
    const turn = conversation.send('say overloaded');
    const events = await eventsOf(turn);
    expect(unwrap(await turn.outcome)).toMatchObject({ agent: 'second', text: 'overloaded' });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'fell_back', from: 'first', to: 'second', kind: 'overloaded' }),
    );
    expect(await (await begin(agent)).send('tool pay').outcome).toMatchObject({
      ok: false,
      failure: { kind: 'crash', outcome: 'unknown' },
    });
  });

  it.for([
    ['refusal', 'permanent'],
    ['max_turn_requests', 'permanent'],
    ['cancelled', 'cancelled'],
  ] as const)('[A-4] [U-4] a turn that stops by %s is no answer', async ([reason, kind]) => {
    const outcome = await (await begin(startFaulty())).send(`say half; stop ${reason}`).outcome;
    expect(outcome).toMatchObject({ ok: false, failure: { kind } });
  });

  it('[A-4] [U-4] limits a single turn, and ends it at its agent', async () => {
    const conversation = await begin(startFaulty());
    const outcome = await conversation.send('wait 600', { idleMs: 300 }).outcome;
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect(unwrap(await conversation.send('say next').outcome).text).toBe('next');
  });

  it('[A-4] [R-6] [W-4] asks once for each attempt of the work that a turn is part of', async () => {
    const crashing: FaultyAcpAgentOptions = { faults: [{ do: 'crash' }] };
    const { signal } = new AbortController();
    markRetried(signal, 3);
    const outcome = await (await begin(startFaulty(crashing))).send('say hello', { signal }).outcome;
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'crash', attempts: 1 } });
  });

  it.each<[string, string, object]>([
    ['is tried again in another conversation', 'say hello', { status: 'done', attempts: 2, value: 'hello' }],
    ['is not where a tool was called', 'tool pay', { status: 'failed', attempts: 1 }],
  ])('[A-4] [A-5] [W-4] the item of a workflow whose answer broke off %s', async (_, prompt, result) => {
    const gateway = createGateway({ store: ':memory:', control: false, kinds: [agentKind, workflowKind] });
    onTestFinished(() => gateway.stop());
    const text = 'Network error: connection reset. Please resend your message to try again.';
    const agent = gateway.agent('coder', { acp: builtAcpAgent({ faults: [{ nth: 1, at: 'end', do: 'stop', text }] }) });
    const item = async (_item: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
      const conversation = unwrap(await agent.start({ signal }));
      return unwrap(await conversation.send(prompt, { signal }).outcome).text;
    };
    const plan = () => ({ success: true, items: [{ id: 'a', action: 'do a' }] });
    const backends = [
      { name: 'coder', plan, item, itemPolicy: { retry: { backoff: { kind: 'constant', delayMs: 1 } as const } } },
    ];
    const workflow = gateway.workflow<string, string>('report', { backends });
    await gateway.start();
    expect((await workflow.run('go').outcome).items).toMatchObject([result]);
  });

  it('[A-4] gives up a start that nobody waits for', async () => {
    const leaving = new AbortController();
    const started = startFaulty({ faults: [{ on: 'session/new', do: 'hang' }] }).start({ signal: leaving.signal });
    leaving.abort('gone');
    expect(await started).toMatchObject({ ok: false, failure: { kind: 'cancelled', outcome: 'not_started' } });
  });

  it('[A-4] says which option is wrong, and why an agent did not start', async () => {
    expect(() => createAgent({} as AgentOptions)).toThrow('backend');
    expect(() => createAgent({ backend: 'acp' })).toThrow('`acp.acp`');
    expect(() => createAgent({ acp: { command: '' } })).toThrow('acp.command');
    expect(() => createAgent({ acp: { command: 'goose' }, model: 'm' })).toThrow('model');
    expect(() => createAgent({ backend: 'claude', acp: { command: 'goose' } })).toThrow('acp');
    const none = createAgent({ name: 'none', store: ':memory:', acp: { command: 'no-such-agent' } });
    onTestFinished(() => none.stop());
    expect(await none.start()).toMatchObject({
      ok: false,
      failure: {
        kind: 'unavailable',
        outcome: 'not_started',
        message: expect.stringContaining('no such command') as string,
      },
    });
  });
});
