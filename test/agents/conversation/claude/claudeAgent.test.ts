import { describe, expect, it } from 'vitest';
import { markRetried } from '../../../../src/calls/workSignal.ts';
import { begin, eventsOf, startAgent } from '../startAgent.ts';
import { apiRetry, assistant, init, text, toolResult, toolUse } from '../scriptedQuery.ts';

describe('an agent over the Claude Agent SDK', () => {
  it('[C-6] [U-4] answers with the result of its turn, its id and its tokens', async () => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    const { outcome } = conversation.send('say hi');
    await clock.settle();
    sdk.at(0).say(init, assistant(text('hello')));
    sdk.at(0).answer('hello');
    expect(await outcome).toEqual({
      ok: true,
      value: {
        text: 'hello',
        id: 'session-1',
        backend: 'claude',
        agent: 'coder',
        effects: 'none',
        usage: { inputTokens: 10, outputTokens: 5 },
        calls: { model: 1, tools: 0 },
      },
    });
    expect(conversation.id).toBe('session-1');
  });

  it('[U-4] keeps one query for the turns of a conversation', async () => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    for (const words of ['one', 'two']) {
      const { outcome } = conversation.send(words);
      await clock.settle();
      sdk.at(0).answer(`${words}!`);
      expect(await outcome).toMatchObject({ ok: true, value: { text: `${words}!` } });
    }
    expect(sdk.queries).toHaveLength(1);
    expect(sdk.at(0).prompts.map(({ message }) => message.content)).toEqual(['one', 'two']);
  });

  it('[C-6] gives one result though the SDK yields one and then throws', async () => {
    const { clock, sdk, converse, of } = await startAgent();
    const { outcome } = (await converse()).send('say hi');
    await clock.settle();
    sdk.at(0).answer('hello');
    sdk.at(0).throws(new Error('Claude Code returned an error result: hello'));
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'hello' } });
    await clock.advance(60_000);
    expect(of('call.succeeded')).toHaveLength(1);
    expect(of('call.failed')).toHaveLength(0);
  });

  it('[C-6] takes an error result for a failure, whatever its subtype, and tries again in the same process', async () => {
    const { clock, sdk, converse } = await startAgent();
    const { outcome } = (await converse()).send('say hi');
    await clock.settle();
    sdk.at(0).refuse(429, 'API Error: Request rejected (429)');
    await clock.advance(999);
    expect(sdk.at(0).prompts).toHaveLength(1);
    await clock.advance(1);
    sdk.at(0).answer('hello');
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'hello' } });
    expect(sdk.queries).toHaveLength(1);
    // The first prompt is in the history of the session: it is not said again.
    expect(sdk.at(0).prompts[1]?.message.content).toContain('Go on with it');
  });

  it('[C-6] ends without a result as a failure of the protocol', async () => {
    const { clock, sdk, converse } = await startAgent();
    const { outcome } = (await converse()).send('say hi');
    await clock.settle();
    sdk.at(0).ends();
    expect(await outcome).toMatchObject({
      ok: false,
      failure: { kind: 'protocol', message: 'Claude ended without a result' },
    });
  });

  it('[C-6] that is silent for 120 s is interrupted, aborted, and asked again in a new query', async () => {
    const { clock, sdk, converse } = await startAgent({}, { obeys: false });
    const { outcome } = (await converse()).send('say hi');
    await clock.advance(119_999);
    expect(sdk.at(0).interrupts).toBe(0);
    await clock.advance(1);
    expect(sdk.at(0).interrupts).toBe(1);
    expect(sdk.at(0).aborted).toBe(false);
    await clock.advance(2000);
    expect(sdk.at(0).aborted).toBe(true);
    expect(sdk.at(1).prompts.map(({ message }) => message.content)).toEqual(['say hi']);
    sdk.at(1).answer('hello');
    expect(await outcome).toMatchObject({ ok: true, value: { id: 'session-2' } });
  });

  it('[C-6] that was silent for too long is not trusted again, though it obeys', async () => {
    const { clock, sdk, converse } = await startAgent({ policy: { retry: { maxAttempts: 1 } } });
    const conversation = await converse();
    const { outcome } = conversation.send('say hi');
    await clock.advance(120_000);
    expect(await outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
    expect(sdk.at(0).aborted).toBe(true);
  });

  it('[R-12] is not asked again when it acts while it is ended, and nothing of it is kept', async () => {
    const options = { claude: { options: { persistSession: false } } };
    const { clock, sdk, converse } = await startAgent(options, { obeys: false });
    const { outcome } = (await converse()).send('do it');
    await clock.advance(120_000);
    sdk.at(0).say(assistant(toolUse('toolu_1', 'Bash', { command: 'rm x' })));
    await clock.advance(5000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'unknown', outcome: 'unknown', attempts: 2 } });
    expect(sdk.queries).toHaveLength(1);
  });

  it('[C-6] [G-7] does not live on pings, however many come', async () => {
    const { clock, sdk, converse } = await startAgent({ policy: { retry: { maxAttempts: 1 } } });
    const { outcome } = (await converse()).send('say hi');
    await clock.settle();
    for (let seconds = 0; seconds < 115; seconds += 5) {
      await clock.advance(5000);
      sdk.at(0).say({ type: 'stream_event', event: { type: 'ping' }, parent_tool_use_id: null });
      await clock.settle();
    }
    await clock.advance(4999);
    expect(sdk.at(0).interrupts).toBe(0);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
  });

  it('[C-6] [G-7] lives on any message that gets on', async () => {
    const { clock, sdk, converse } = await startAgent();
    const { outcome } = (await converse()).send('say hi');
    for (let count = 0; count < 4; count++) {
      await clock.advance(119_999);
      sdk.at(0).say({ type: 'tool_progress', tool_use_id: 'toolu_1' });
      await clock.settle();
    }
    sdk.at(0).answer('hello');
    expect(await outcome).toMatchObject({ ok: true });
    expect(sdk.at(0).interrupts).toBe(0);
  });

  it('[C-6] lives on announced retries, but for five minutes only', async () => {
    const { clock, sdk, converse } = await startAgent({ policy: { retry: { maxAttempts: 1 } } });
    const { outcome } = (await converse()).send('say hi');
    await clock.settle();
    // Until 290 s they count; the idle limit runs from there.
    for (let count = 1; count <= 40; count++) {
      await clock.advance(10_000);
      sdk.at(0).say(apiRetry(count));
      await clock.settle();
    }
    expect(sdk.at(0).interrupts).toBe(0);
    await clock.advance(9999);
    expect(sdk.at(0).interrupts).toBe(0);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
  });

  it('[R-12] goes on in its session after something may have taken effect', async () => {
    const { clock, sdk, converse } = await startAgent();
    const { outcome } = (await converse()).send('do it');
    await clock.settle();
    sdk.at(0).say(init, assistant(toolUse('toolu_1', 'Bash', { command: 'rm x' })), toolResult('toolu_1'));
    sdk.at(0).throws(new Error('Claude Code process terminated by signal SIGKILL'));
    await clock.advance(1000);
    expect(sdk.at(1).options['resume']).toBe('session-1');
    expect(sdk.at(1).prompts[0]?.message.content).toContain('check what was done');
    sdk.at(1).answer('done');
    expect(await outcome).toMatchObject({ ok: true, value: { effects: 'possible', text: 'done' } });
  });

  it('[R-12] is not asked again after effects where its session is not kept', async () => {
    const { clock, sdk, converse } = await startAgent({ claude: { options: { persistSession: false } } });
    const { outcome } = (await converse()).send('do it');
    await clock.settle();
    sdk.at(0).say(init, assistant(toolUse('toolu_1', 'Bash', { command: 'rm x' })), toolResult('toolu_1'));
    sdk.at(0).throws(new Error('Claude Code process terminated by signal SIGKILL'));
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', attempts: 1 } });
    expect(sdk.queries).toHaveLength(1);
  });

  it('[R-12] that fell silent after effects, and of which nothing is kept, is not asked again', async () => {
    const { clock, sdk, converse } = await startAgent({ claude: { options: { persistSession: false } } });
    const { outcome } = (await converse()).send('do it');
    await clock.settle();
    sdk.at(0).say(init, assistant(toolUse('toolu_1', 'Bash', { command: 'rm x' })));
    await clock.advance(125_000);
    const failure = { reason: 'idle_timeout', outcome: 'unknown', attempts: 1 };
    expect(await outcome).toMatchObject({ ok: false, failure });
  });

  it('[R-12] is asked from the start after harmless effects where its session is not kept', async () => {
    const { clock, sdk, converse } = await startAgent({ claude: { options: { persistSession: false } } });
    const { outcome } = (await converse()).send('do it', { effect: 'idempotent' });
    await clock.settle();
    sdk.at(0).say(init, assistant(toolUse('toolu_1', 'Bash', { command: 'rm x' })), toolResult('toolu_1'));
    sdk.at(0).throws(new Error('Claude Code process terminated by signal SIGKILL'));
    await clock.advance(1000);
    expect(sdk.at(1).prompts[0]?.message.content).toBe('do it');
    sdk.at(1).answer('done');
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[R-12] after effects that were cut short by an interrupt, and the end of its process, is resumed', async () => {
    const { clock, sdk, converse } = await startAgent({}, { obeys: false });
    const conversation = await converse();
    void conversation.send('do it');
    await clock.settle();
    sdk.at(0).say(init, assistant(toolUse('toolu_1', 'Bash', { command: 'rm x' })));
    await clock.settle();
    const interrupted = conversation.interrupt();
    await clock.advance(2000);
    await interrupted;
    void conversation.send('and now?');
    await clock.settle();
    expect(sdk.at(1).options['resume']).toBe('session-1');
    expect(sdk.at(1).prompts[0]?.message.content).toBe('and now?');
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('[I-3] stopped %d steps after it was asked leaves no query', async (steps) => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    const { outcome } = conversation.send('say hi');
    for (let step = 0; step < steps; step++) await Promise.resolve();
    const stopping = conversation.stop();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await clock.advance(5000);
    await stopping;
    expect(sdk.queries.filter(({ aborted }) => !aborted)).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    '[I-1] [R-8] interrupted %d steps after it was asked leaves no turn',
    async (steps) => {
      const { clock, sdk, converse } = await startAgent();
      const conversation = await converse();
      const { outcome } = conversation.send('say hi');
      for (let step = 0; step < steps; step++) await Promise.resolve();
      await conversation.interrupt();
      expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
      await clock.settle();
      const { prompts = [], interrupts = 0 } = sdk.queries[0] ?? {};
      expect(interrupts).toBe(prompts.length);
    },
  );

  it('[C-6] [R-12] that has lost a conversation nobody kept says so', async () => {
    const { clock, sdk, converse } = await startAgent({ claude: { options: { persistSession: false } } });
    const conversation = await converse();
    const first = conversation.send('one');
    await clock.settle();
    sdk.at(0).answer('one!');
    await first.outcome;
    sdk.at(0).ends();
    await clock.settle();
    expect(await conversation.send('two').outcome).toMatchObject({
      failure: { kind: 'permanent', reason: 'not_found', outcome: 'not_started' },
    });
  });

  it('[R-12] is asked from the start when it died before it did anything', async () => {
    const { clock, sdk, converse } = await startAgent();
    const { outcome } = (await converse()).send('do it');
    await clock.settle();
    sdk.at(0).say(init);
    sdk.at(0).throws(new Error('Claude Code process terminated by signal SIGKILL'));
    await clock.advance(1000);
    expect(sdk.at(1).options['resume']).toBeUndefined();
    expect(sdk.at(1).prompts[0]?.message.content).toBe('do it');
    sdk.at(1).answer('done');
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[U-4] resumes its conversation when the process has ended between two turns', async () => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    const first = conversation.send('one');
    await clock.settle();
    sdk.at(0).answer('one!');
    await first.outcome;
    sdk.at(0).throws(new Error('Claude Code process terminated by signal SIGKILL'));
    await clock.settle();
    const second = conversation.send('two');
    await clock.settle();
    expect(sdk.at(1).options['resume']).toBe('session-1');
    sdk.at(1).answer('two!');
    expect(await second.outcome).toMatchObject({ ok: true, value: { text: 'two!', id: 'session-1' } });
  });

  it('[U-4] resumes by an id', async () => {
    const { clock, sdk, agent } = await startAgent();
    const { outcome } = (await begin(agent, 'session-9')).send('and now?');
    await clock.settle();
    expect(sdk.at(0).options['resume']).toBe('session-9');
    sdk.at(0).answer('well');
    expect(await outcome).toMatchObject({ ok: true, value: { id: 'session-9' } });
  });

  it('[U-4] [R-8] interrupts a turn, keeps its process, and takes the next', async () => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    const { outcome } = conversation.send('say hi');
    await clock.settle();
    await conversation.interrupt();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', outcome: 'cancelled' } });
    expect(sdk.at(0).aborted).toBe(false);
    const next = conversation.send('and now?');
    await clock.settle();
    sdk.at(0).answer('well');
    expect(await next.outcome).toMatchObject({ ok: true, value: { text: 'well' } });
    expect(sdk.queries).toHaveLength(1);
  });

  it('[C-6] [R-8] ends the process of one that does not obey an interrupt within 2 s', async () => {
    const { clock, sdk, converse } = await startAgent({}, { obeys: false });
    const conversation = await converse();
    const { outcome } = conversation.send('say hi');
    await clock.settle();
    const interrupted = conversation.interrupt();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await clock.advance(1999);
    expect(sdk.at(0).aborted).toBe(false);
    await clock.advance(1);
    await interrupted;
    expect(sdk.at(0).aborted).toBe(true);
  });

  it('[U-4] refuses a second turn while one is under way', async () => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    const first = conversation.send('one');
    expect(conversation.busy).toBe(true);
    expect(await conversation.send('two').outcome).toMatchObject({
      failure: { kind: 'too_many_requests', reason: 'scope_busy', attempts: 0 },
    });
    await clock.settle();
    sdk.at(0).answer('one!');
    await first.outcome;
    expect(conversation.busy).toBe(false);
    expect(sdk.at(0).prompts).toHaveLength(1);
  });

  it('[C-6] does not take the result of a background task for its own', async () => {
    const { clock, sdk, converse } = await startAgent();
    const conversation = await converse();
    const { outcome } = conversation.send('one');
    await clock.settle();
    const origin = { kind: 'task-notification' };
    sdk.at(0).answer('a task has ended', { user_message_uuid: undefined, origin });
    sdk.at(0).answer('another prompt', { user_message_uuid: 'somebody-elses' });
    sdk.at(0).answer('one!');
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'one!' } });
  });

  it('[R-6] [W-4] makes one attempt of a turn that is part of work which is tried again as a whole', async () => {
    const { clock, converse, sdk } = await startAgent();
    const conversation = await converse();
    const { signal } = new AbortController();
    markRetried(signal, 3);
    const { outcome } = conversation.send('say hi', { signal });
    await clock.settle();
    sdk.at(0).refuse(529, 'overloaded');
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'overloaded', attempts: 1 } });
  });

  it('[R-6] [C-6] bounds the retries inside Claude, but where they are set', async () => {
    const { clock, sdk, converse } = await startAgent();
    void (await converse()).send('one');
    await clock.settle();
    expect(sdk.at(0).options['env']).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: '1', PATH: process.env['PATH'] });
    const other = await startAgent({ env: { CLAUDE_CODE_MAX_RETRIES: '3' } });
    void (await other.converse()).send('one');
    await other.clock.settle();
    expect(other.sdk.at(0).options['env']).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: '3' });
  });

  it('[C-6] a query that throws at once is a failed attempt', async () => {
    const query = (): never => {
      throw Object.assign(new ReferenceError('Claude Code native binary not found at /nowhere'), { code: 'ENOENT' });
    };
    const { converse } = await startAgent({ claude: { query } });
    expect(await (await converse()).send('one').outcome).toMatchObject({
      failure: { kind: 'spawn', code: 'ENOENT', outcome: 'not_started' },
    });
  });

  it('[C-6] without the package says what to install', async () => {
    const { converse } = await startAgent({ claude: { query: undefined } });
    expect(await (await converse()).send('one').outcome).toMatchObject({
      failure: {
        kind: 'spawn',
        message: 'The Claude Agent SDK is not installed; run: npm install @anthropic-ai/claude-agent-sdk',
      },
    });
  });

  it('[I-1] [I-3] leaves no turn open and no timer when it is stopped', async () => {
    const { clock, sdk, agent, converse, stop } = await startAgent({}, { obeys: false });
    const { outcome } = (await converse()).send('say hi');
    await clock.settle();
    await stop();
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    expect(sdk.at(0).aborted).toBe(true);
    expect(await agent.start()).toMatchObject({ ok: false, failure: { kind: 'unavailable', reason: 'stopped' } });
    expect(clock.pending).toBe(0);
  });

  it('[U-4] tells what happens in a turn', async () => {
    const { clock, sdk, converse } = await startAgent();
    const turn = (await converse()).send('do it');
    const events = eventsOf(turn);
    await clock.settle();
    sdk
      .at(0)
      .say(
        init,
        assistant(toolUse('toolu_1', 'Bash', { command: 'ls' })),
        toolResult('toolu_1'),
        assistant(text('ok')),
      );
    sdk.at(0).answer('ok');
    expect(await events).toEqual([
      { type: 'tool.started', id: 'toolu_1', tool: 'Bash', action: 'ls' },
      { type: 'tool.ended', id: 'toolu_1', tool: 'Bash', ok: true },
      { type: 'text', text: 'ok' },
    ]);
  });
});
