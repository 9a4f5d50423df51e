import { describe, expect, it, onTestFinished } from 'vitest';
import type {
  AgentEvent,
  AgentOptions,
  AgentTurnStream,
  Conversation,
} from '../../../agents/conversation/agentTypes.ts';
import { createGateway, IntegrationError } from '../../../src/index.ts';
import { isSettled } from '../../support/deferred.ts';
import { begin, exact, startAgent } from './startAgent.ts';
import { blockStart, delta, init } from './scriptedQuery.ts';

/** All events, and what the loop threw after them. */
async function readAll({ chunks }: Pick<AgentTurnStream, 'chunks'>) {
  const events: AgentEvent[] = [];
  try {
    for await (const event of chunks) events.push(event);
  } catch (error) {
    if (!(error instanceof IntegrationError)) throw error;
    return { events, failure: error.failure };
  }
  return { events, failure: undefined };
}

const says = (words: string): AgentEvent => ({ type: 'text', text: words });

async function startTwo(options: Partial<AgentOptions> = {}) {
  const second = await startAgent({ policy: exact }, { name: 'second' });
  const first = await startAgent(
    { policy: { retry: { maxAttempts: 1 } }, fallback: second.agent, ...options },
    { name: 'first' },
  );
  const conversation = await begin(first.agent);
  const settle = async (): Promise<void> => {
    for (let count = 0; count < 3; count++) {
      await first.clock.settle();
      await second.clock.settle();
    }
  };
  return { first, second, conversation, settle };
}

describe('a turn that is read as it comes', () => {
  it('[R-13] gives each event when it has come, and ends with the whole answer', async () => {
    const { sdk, clock, converse } = await startAgent();
    const conversation = await converse();
    const { chunks, outcome } = conversation.stream('do it');
    const first = chunks.next();
    await clock.settle();
    expect(await isSettled(first)).toBe(false);
    sdk.at(0).say(init, blockStart, delta('one '));
    expect(await first).toEqual({ done: false, value: says('one ') });
    sdk.at(0).say(delta('two'));
    expect(await chunks.next()).toEqual({ done: false, value: says('two') });
    sdk.at(0).answer('one two');
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'one two', backend: 'claude' } });
  });

  it('[R-13] gives what waits to a reader that comes late, and its outcome waits for none', async () => {
    const { sdk, clock, converse } = await startAgent();
    const stream = (await converse()).stream('do it');
    await clock.settle();
    sdk.at(0).say(init, blockStart, delta('one '), delta('two'));
    sdk.at(0).answer('one two');
    expect(await stream.outcome).toMatchObject({ ok: true });
    expect(await readAll(stream)).toEqual({ events: [says('one two')], failure: undefined });
    expect(stream).toMatchObject({ chunkCount: 1, missed: 0 });
  });

  it('[R-13] [R-8] is ended by a reader that leaves; the conversation goes on', async () => {
    const { agent, sdk, clock, converse } = await startAgent();
    const conversation = await converse();
    const stream = conversation.stream('do it');
    const read = (async () => {
      for await (const event of stream.chunks) if (event.type === 'text') break;
    })();
    await clock.settle();
    sdk.at(0).say(init, blockStart, delta('one '));
    await read;
    expect(await stream.outcome).toMatchObject({
      ok: false,
      failure: { kind: 'cancelled', reason: 'reader_left', message: 'The reader left the stream' },
    });
    expect(sdk.at(0).interrupts).toBe(1);
    expect(conversation.busy).toBe(false);
    const next = conversation.stream('again').toReadableStream().getReader();
    await clock.settle();
    sdk.at(0).say(blockStart, delta('yes'));
    const { value } = await next.read();
    expect(new TextDecoder().decode(value)).toBe(`${JSON.stringify(says('yes'))}\n`);
    await next.cancel(new Error('the client went away'));
    expect(sdk.at(0).interrupts).toBe(2);
    expect(agent.name).toBe('coder');
  });

  it.each(['its signal', 'cancel', 'interrupt'] as const)('[R-13] [R-8] is ended by %s', async (how) => {
    const { sdk, clock, converse } = await startAgent();
    const conversation = await converse();
    const aborting = new AbortController();
    const stream = conversation.stream('do it', { signal: aborting.signal });
    const read = readAll(stream);
    await clock.settle();
    sdk.at(0).say(init, blockStart, delta('one '));
    await clock.settle();
    const why = new Error('enough');
    if (how === 'its signal') aborting.abort(why);
    else if (how === 'cancel') stream.cancel(why);
    else void conversation.interrupt(why);
    const { events, failure } = await read;
    expect(events).toEqual([says('one ')]);
    expect(failure).toMatchObject({ kind: 'cancelled', message: 'Cancelled: enough' });
    expect(failure?.reason).not.toBe('reader_left');
    expect(sdk.at(0).interrupts).toBe(1);
  });

  it('[R-13] [R-9] is ended by silence and by its limit, after the events that came', async () => {
    const { sdk, clock, converse } = await startAgent();
    const conversation = await converse();
    const silent = readAll(conversation.stream('do it', { idleMs: 5000 }));
    await clock.settle();
    sdk.at(0).say(init, blockStart, delta('one '));
    await clock.advance(5000);
    expect(await silent).toMatchObject({
      events: [says('one ')],
      failure: { kind: 'timeout', reason: 'idle_timeout', attempts: 1 },
    });
    const endless = readAll(conversation.stream('do it', { overallMs: 3000 }));
    await clock.advance(3000);
    expect(await endless).toMatchObject({ failure: { kind: 'timeout', reason: 'overall_timeout' } });
  });

  it('[R-13] is tried again before it told something, and not after', async () => {
    const { sdk, clock, converse } = await startAgent();
    const conversation = await converse();
    const read = readAll(conversation.stream('do it'));
    await clock.settle();
    sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await clock.advance(60_000);
    expect(sdk.at(0).prompts).toHaveLength(2);
    sdk.at(0).say(init, blockStart, delta('one '));
    sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await clock.advance(60_000);
    const { events, failure } = await read;
    expect(events.filter(({ type }) => type !== 'retrying')).toEqual([says('one ')]);
    expect(failure).toMatchObject({ kind: 'overloaded', attempts: 2 });
    expect(sdk.at(0).prompts).toHaveLength(2);
  });

  it('[R-13] goes on with the prompt that `resume` gives', async () => {
    const { sdk, clock, converse } = await startAgent();
    const resume = (last: AgentEvent, prompt: string, count: number): string =>
      `${prompt}, from ${JSON.stringify(last)} (${count})`;
    const read = readAll((await converse()).stream('count', { resume }));
    await clock.settle();
    sdk.at(0).say(init, blockStart, delta('one '));
    sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await clock.advance(60_000);
    expect(sdk.at(0).prompts.at(-1)?.message.content).toBe('count, from {"type":"text","text":"one "} (1)');
    sdk.at(0).answer('two');
    expect((await read).failure).toBeUndefined();
  });

  it('[R-13] [R-11] is not handed to the fallback after it told something', async () => {
    const { first, second, conversation, settle } = await startTwo();
    const read = readAll(conversation.stream('do it'));
    await settle();
    first.sdk.at(0).say(init, blockStart, delta('one '));
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    expect(await read).toMatchObject({ events: [says('one ')], failure: { kind: 'overloaded' } });
    expect(second.sdk.queries).toHaveLength(0);
  });

  it('[R-13] [R-11] is handed to the fallback before that, and the same holds there', async () => {
    const { first, second, conversation, settle } = await startTwo();
    const read = readAll(conversation.stream('do it'));
    await settle();
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    second.sdk.at(0).say(init, blockStart, delta('two '));
    second.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await second.clock.advance(60_000);
    expect(second.sdk.at(0).prompts).toHaveLength(1);
    const { events } = await read;
    expect(events.map(({ type }) => type)).toEqual(['fell_back', 'text']);
  });

  it('[R-13] [R-11] is handed to the fallback with the prompt that `resume` gives', async () => {
    const { first, second, conversation, settle } = await startTwo();
    const stream = conversation.stream('count', { resume: (_, prompt) => `${prompt} on` });
    const read = readAll(stream);
    await settle();
    first.sdk.at(0).say(init, blockStart, delta('one '));
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    expect(second.sdk.at(0).prompts[0]?.message.content).toBe('count on');
    second.sdk.at(0).answer('two');
    await settle();
    expect((await read).failure).toBeUndefined();
    expect(await stream.outcome).toMatchObject({ ok: true, value: { agent: 'second' } });
  });

  it('[R-13] tells of a turn that is refused, and of wrong options at once', async () => {
    const { converse } = await startAgent();
    const conversation: Conversation = await converse();
    conversation.send('one');
    expect(await readAll(conversation.stream('two'))).toMatchObject({ events: [], failure: { reason: 'scope_busy' } });
    expect(() => conversation.stream('two', { resume: 'yes' as never })).toThrow(/options\.resume/);
  });

  it('[R-13] is what a tool of a session streams: its reader leaves, and so does the turn', async () => {
    const { sdk, converse } = await startAgent();
    const conversation = await converse();
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    const policy = { retry: { maxAttempts: 1 } };
    const ask = gateway.integration(
      'ask',
      { policy },
      ({ input }: { readonly input: string }) => conversation.stream(input).chunks,
    );
    const seen: unknown[] = [];
    const session = gateway.session('s', {
      onMessage: async (_, turn) => {
        const stream = turn.stream(ask, 'ask', 'do it');
        const next = stream.chunks.next();
        await expect.poll(() => sdk.queries.length).toBe(1);
        sdk.at(0).say(init, blockStart, delta('one '));
        seen.push((await next).value);
        await stream.chunks.return?.();
        seen.push((await stream.result).status);
      },
    });
    await gateway.start();
    const ended = gateway.wait('session.turn_ended');
    await session.send({ kind: 'user' });
    await ended;
    expect(seen).toEqual([says('one '), 'error']);
    await expect.poll(() => sdk.at(0).interrupts).toBe(1);
  });
});
