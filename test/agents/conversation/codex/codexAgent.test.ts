import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentKind } from '../../../../agents/conversation/agent.ts';
import type { AgentOptions } from '../../../../agents/conversation/agentTypes.ts';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { Clock } from '../../../../src/policy/clock.ts';
import { systemClock } from '../../../../src/runtime/systemClock.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
import { codexFixture, quickTurn, says, type Script } from '../../codex/startCodex.ts';
import { begin, eventsOf } from '../startAgent.ts';

const command = { type: 'commandExecution', id: 'c1', command: 'ls -la' };

const fixture = { command: process.execPath, args: [codexFixture] };

/** An agent over a scripted app-server. */
async function startCodexAgent(script: Script, options: Partial<AgentOptions> = {}, clock: Clock = systemClock) {
  const gateway = createGateway({ kinds: [agentKind], clock });
  onTestFinished(() => gateway.stop());
  const agent = gateway.agent('coder', {
    backend: 'codex',
    env: { FAKE_CODEX: JSON.stringify(script) },
    codex: fixture,
    ...options,
  });
  await gateway.start();
  return { gateway, agent };
}

/** Failure of whoever began a conversation with an agent that was stopped meanwhile. */
const itWasStopped = {
  kind: 'unavailable',
  reason: 'stopped',
  message: 'coder is stopped',
  integration: 'coder',
  outcome: 'not_started',
  attempts: 0,
  retryable: false,
};

describe('an agent over the app-server of Codex', () => {
  it('[U-4] answers through the same interface, one process for all its conversations', async () => {
    const { agent, gateway } = await startCodexAgent({ 'turn/start': [quickTurn] });
    const started = vi.fn<() => void>();
    gateway.on('process.started', started);
    for (const conversation of [await begin(agent), await begin(agent)]) {
      expect(await conversation.send('hi').outcome).toMatchObject({
        ok: true,
        value: { text: 'done', id: 'thread-1', backend: 'codex', agent: 'coder', effects: 'none' },
      });
    }
    expect(gateway.tree().children?.filter(({ restart }) => restart === 'temporary')).toHaveLength(1);
  });

  it('[R-13] streams a turn as it comes', async () => {
    const script: Script = {
      'turn/start': [[['usual'], says.delta('do'), says.delta('ne'), says.message('done'), says.completed]],
    };
    const { agent } = await startCodexAgent(script);
    const { chunks, outcome } = (await begin(agent)).stream('hi');
    let text = '';
    for await (const event of chunks) if (event.type === 'text') text += event.text;
    expect(text).toBe('done');
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'done', backend: 'codex' } });
  });

  it('[U-4] tells the same events', async () => {
    const script: Script = {
      'turn/start': [
        [
          ['usual'],
          says.item('started', { ...command, status: 'inProgress' }),
          says.item('completed', { ...command, status: 'failed', exitCode: 1 }),
          says.retry('Reconnecting... 1/5'),
          says.delta('do'),
          says.delta('ne'),
          says.message('done'),
          says.message('really', 'm2'),
          says.completed,
        ],
      ],
    };
    const { agent } = await startCodexAgent(script);
    const turn = (await begin(agent)).send('hi');
    const events = await eventsOf(turn);
    expect(events.filter(({ type }) => type !== 'text')).toEqual([
      { type: 'tool.started', id: 'c1', tool: 'command', action: 'ls -la' },
      { type: 'tool.ended', id: 'c1', tool: 'command', ok: false },
      { type: 'retrying', by: 'agent', attempt: 1, delayMs: undefined, message: 'Reconnecting... 1/5' },
    ]);
    expect(events.map((event) => (event.type === 'text' ? event.text : '')).join('')).toBe('done\n\nreally');
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'really', effects: 'possible' } });
  });

  it('[H-4] [U-4] asks who approves in the same words, and declines where nobody does', async () => {
    const script: Script = {
      'turn/start': [[['usual'], says.asks(0)]],
      answer: [[says.message('done'), says.completed]],
    };
    const approve = vi.fn<(request: object) => string>(() => 'accept');
    const { agent } = await startCodexAgent(script, { approve });
    const turn = (await begin(agent)).send('hi');
    const events = await eventsOf(turn);
    expect(await turn.outcome).toMatchObject({ ok: true });
    expect(approve.mock.calls[0]?.[0]).toMatchObject({
      action: 'command: rm -rf /',
      payload: { tool: 'command', input: { command: 'rm -rf /' } },
    });
    expect(events).toMatchObject([
      { type: 'approval.requested', tool: 'command', action: 'rm -rf /' },
      { type: 'approval.resolved', tool: 'command', decision: 'accept' },
      { type: 'text' },
    ]);
    const other = await startCodexAgent(script);
    const declined = await eventsOf((await begin(other.agent)).send('hi'));
    expect(declined).toContainEqual(expect.objectContaining({ type: 'approval.resolved', decision: 'decline' }));
  });

  it('[U-4] [R-8] is interrupted, and takes the next turn', async () => {
    const { agent } = await startCodexAgent({ 'turn/start': [[['usual'], says.delta('well')], quickTurn] });
    const conversation = await begin(agent);
    const turn = conversation.send('hi');
    const first = await turn[Symbol.asyncIterator]().next();
    expect(first.value).toEqual({ type: 'text', text: 'well' });
    await conversation.interrupt();
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await conversation.send('and now?').outcome).toMatchObject({ ok: true, value: { text: 'done' } });
  });

  it('[U-4] [R-12] whose process dies in a turn fails the turn, and says so once', async () => {
    const { agent } = await startCodexAgent({ 'turn/start': [[['usual'], ['kill', 'SIGKILL']]] });
    const outcome = await (await begin(agent)).send('hi').outcome;
    expect(outcome).toMatchObject({ failure: { kind: 'crash', attempts: 1 } });
  });

  it('[U-4] resumes its thread for the next turn when its process died between two', async () => {
    const script: Script = { 'thread/start': [[['usual'], ['kill', 'SIGKILL']]], 'turn/start': [quickTurn] };
    const { agent, gateway } = await startCodexAgent(script);
    const started = vi.fn<() => void>();
    gateway.on('process.started', started);
    const gone = gateway.wait('codex.app_server.connection.stop');
    const conversation = await begin(agent);
    await gone;
    expect(await conversation.send('hi').outcome).toMatchObject({ ok: true, value: { text: 'done' } });
    expect(conversation.id).toBe('thread-1');
    expect(started).toHaveBeenCalledTimes(2);
  });

  it('[I-3] [U-4] starts none when it is stopped while it is still loaded', async () => {
    const { agent, gateway } = await startCodexAgent({ 'turn/start': [quickTurn] });
    const started = vi.fn<() => void>();
    gateway.on('process.started', started);
    const opening = agent.start();
    await agent.stop();
    expect(await opening).toMatchObject({ ok: false, failure: itWasStopped });
    expect(started).not.toHaveBeenCalled();
  });

  it('[I-3] [U-4] says that it was stopped, and that nothing had begun, where it is stopped while Codex is greeted', async () => {
    const { agent, gateway } = await startCodexAgent({}, { codex: { command: 'sleep', args: ['60'] } });
    const started = gateway.wait('process.started');
    const opening = agent.start();
    await started;
    await agent.stop();
    expect(await opening).toMatchObject({ ok: false, failure: itWasStopped });
  });

  it('[I-3] [U-4] ends its process when it is stopped', async () => {
    const { agent, gateway } = await startCodexAgent({ 'turn/start': [quickTurn] });
    await begin(agent);
    const ended = gateway.wait('codex.app_server.connection.stop');
    await agent.stop();
    expect(await ended).toMatchObject({ type: 'codex.app_server.connection.stop' });
    expect(gateway.tree().children?.filter(({ restart }) => restart === 'temporary')).toEqual([]);
  });

  it('[U-4] [I-4] that is not there is said when a conversation is begun', async () => {
    const { agent } = await startCodexAgent({}, { codex: { command: '/nowhere/codex' } });
    expect(await agent.start()).toMatchObject({ ok: false, failure: { integration: 'coder', outcome: 'not_started' } });
  });

  it('[I-2] [U-4] begins the next turn in a new process when Codex did not let go of the one before', async () => {
    const script: Script = {
      'turn/start': [[['usual'], says.delta('well')]],
      'turn/interrupt': [[['stderr', 'no']]],
    };
    const { agent } = await startCodexAgent(script, { codex: { ...fixture, interruptMs: 200 } });
    const conversation = await begin(agent);
    const controller = new AbortController();
    const first = conversation.send('hi', { signal: controller.signal });
    await first[Symbol.asyncIterator]().next();
    controller.abort();
    expect(await first.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    const second = conversation.send('and now?');
    const event = await second[Symbol.asyncIterator]().next();
    expect(event.value).toEqual({ type: 'text', text: 'well' });
  });

  it('[I-1] [R-8] ends a turn that waits for the one before when it is aborted or its limit passes', async () => {
    const script: Script = {
      'turn/start': [[['usual'], says.delta('well')], quickTurn],
      'turn/interrupt': [[['stderr', 'no']]],
    };
    const clock = new SkippingClock();
    const { agent } = await startCodexAgent(script, { codex: { ...fixture, interruptMs: 60_000 } }, clock);
    const conversation = await begin(agent);
    const controller = new AbortController();
    const first = conversation.send('hi', { signal: controller.signal });
    await first[Symbol.asyncIterator]().next();
    controller.abort();
    await first.outcome;
    let isReleased = false;
    const released = conversation.interrupt().then(() => {
      isReleased = true;
    });
    const second = new AbortController();
    const waiting = conversation.send('and now?', { signal: second.signal });
    second.abort();
    expect(await waiting.outcome).toMatchObject({ failure: { kind: 'cancelled', outcome: 'not_started' } });
    expect(await conversation.send('and now?', { overallMs: 50 }).outcome).toMatchObject({ ok: false });
    expect(isReleased).toBe(false);
    clock.skip(60_000);
    await released;
  });
});
