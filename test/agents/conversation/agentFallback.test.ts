import { describe, expect, it, vi } from 'vitest';
import { begin, eventsOf, startAgent } from './startAgent.ts';
import { assistant, init, toolResult, toolUse } from './scriptedQuery.ts';
import { failuresOf, mayFallBack } from '../../../agents/conversation/agentFallback.ts';
import type { Failure, Outcome } from '../../../src/policy/failures/failure.ts';
import type { Agent, AgentOptions, AgentTurnOptions, Conversation } from '../../../agents/conversation/agentTypes.ts';

/** An agent with another one to fall back to; the failures of the first are not tried again. */
async function startTwo(options: Partial<AgentOptions> = {}, behaviour: { readonly obeys?: boolean } = {}) {
  const second = await startAgent({}, { name: 'second' });
  const first = await startAgent(
    { policy: { retry: { maxAttempts: 1 } }, fallback: second.agent, ...options },
    { ...behaviour, name: 'first' },
  );
  const conversation = await begin(first.agent);
  const settle = async (): Promise<void> => {
    for (let count = 0; count < 3; count++) {
      await first.clock.settle();
      await second.clock.settle();
    }
  };
  const send = async (prompt: string, sendOptions?: AgentTurnOptions) => {
    const turn = conversation.send(prompt, sendOptions);
    await settle();
    return turn;
  };
  return { first, second, conversation, settle, send };
}

function failureIn(end: Outcome<unknown>): Failure {
  if (end.ok) throw new Error('it did not fail');
  return end.failure;
}

/** An agent of somebody else's making. */
function foreign(begin: () => Conversation | Promise<Conversation>): Agent {
  return {
    name: 'foreign',
    backend: 'codex',
    start: async () => ({ ok: true, value: await begin() }),
    resume: async () => ({ ok: true, value: await begin() }),
    stop: () => Promise.resolve(),
  };
}

/** A conversation that never answers and cannot be ended. */
function ignorant() {
  const never = new Promise<never>(() => undefined);
  return {
    agent: 'foreign',
    id: undefined,
    busy: true,
    send: vi.fn<Conversation['send']>(() => ({
      outcome: never,
      missed: 0,
      [Symbol.asyncIterator]: () => ({ next: () => never }),
    })),
    stream: vi.fn<Conversation['stream']>(() => {
      throw new Error('no');
    }),
    interrupt: vi.fn<Conversation['interrupt']>(() => Promise.reject(new Error('no'))),
    stop: vi.fn<Conversation['stop']>(() => Promise.reject(new Error('no'))),
  };
}

const said = (played: { readonly prompts: readonly { readonly message: { readonly content: string } }[] }) =>
  played.prompts.map(({ message }) => message.content);

describe('a turn that failed', () => {
  it('[G-15] [R-11] is not gone on with by another agent where it spun, or its budget is spent', () => {
    const failure = { message: 'no', integration: 'first', attempts: 1, retryable: false } as const;
    for (const outcome of ['failed', 'not_started', 'unknown'] as const) {
      expect(mayFallBack({ ...failure, kind: 'spinning', outcome }, undefined, true)).toBe(false);
      expect(mayFallBack({ ...failure, kind: 'overloaded', outcome }, undefined, true)).toBe(true);
    }
  });
});

describe('an agent with a fallback', () => {
  it('[R-11] has the other one answer the same prompt, and says so', async () => {
    const { first, second, settle, send } = await startTwo();
    const turn = await send('do it');
    const events = eventsOf(turn);
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    expect(said(second.sdk.at(0))).toEqual(['do it']);
    second.sdk.at(0).answer('done');
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'done', agent: 'second' } });
    expect(await events).toContainEqual({
      type: 'fell_back',
      from: 'first',
      to: 'second',
      kind: 'overloaded',
      message: 'API Error: 529 Overloaded',
    });
    expect(first.of('agent.fell_back')).toMatchObject([{ agent: 'first', to: 'second', kind: 'overloaded' }]);
  });

  it('[R-11] does not ask the other one what is wrong in itself, or was cancelled', async () => {
    const { first, second, conversation, send } = await startTwo();
    const wrong = await send('do it');
    first.sdk.at(0).refuse(400, 'API Error: 400 bad request');
    expect(await wrong.outcome).toMatchObject({ failure: { kind: 'permanent' } });
    const cancelled = await send('do it');
    await conversation.interrupt();
    expect(await cancelled.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(second.sdk.queries).toHaveLength(0);
  });

  it.each<[string, Partial<AgentOptions>, AgentTurnOptions, boolean]>([
    ['not, unless told', {}, {}, false],
    ['when it is allowed', { fallBackAfterEffects: true }, {}, true],
    ['when the turn is harmless', {}, { effect: 'idempotent' }, true],
    ['not when the turn is mutating', { fallBackAfterEffects: true }, { effect: 'mutating' }, false],
  ])('[R-11] [R-12] falls back after something may have taken effect: %s', async (_, options, turnOptions, falls) => {
    const { first, second, settle, send } = await startTwo(options);
    const turn = await send('do it', turnOptions);
    first.sdk.at(0).say(init, assistant(toolUse('t1', 'Bash', { command: 'rm x' })), toolResult('t1'));
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    const told = second.sdk.queries.map((played) => said(played)[0]?.includes('- Bash: rm x (done)'));
    expect(told).toEqual(falls ? [true] : []);
    second.sdk.queries[0]?.answer('done');
    expect((await turn.outcome).ok).toBe(falls);
  });

  it('[R-11] tells each side what was said with the other', async () => {
    const { first, second, settle, send } = await startTwo();
    const one = await send('one');
    first.sdk.at(0).answer('one!');
    await one.outcome;
    const two = await send('two');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    expect(said(second.sdk.at(0))[0]).toContain('Request: one\nAnswer: one!');
    expect(said(second.sdk.at(0))[0]?.endsWith('The request:\n\ntwo')).toBe(true);
    second.sdk.at(0).answer('two!');
    await two.outcome;
    const three = await send('three');
    expect(said(first.sdk.at(0))[2]).toContain('Request: two\nAnswer: two!');
    expect(said(first.sdk.at(0))[2]).not.toContain('Request: one');
    first.sdk.at(0).answer('three!');
    await three.outcome;
    await send('four');
    expect(said(first.sdk.at(0))[3]).toBe('four');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    expect(said(second.sdk.at(0))[1]).toContain('Request: three\nAnswer: three!');
    expect(said(second.sdk.at(0))[1]).not.toContain('Request: two');
  });

  it('[R-11] fails as itself when both do, with both behind it', async () => {
    const { first, second, settle, send } = await startTwo();
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    second.sdk.at(0).refuse(401, 'Invalid API key');
    const end = await outcome;
    expect(end).toMatchObject({ ok: false, failure: { kind: 'overloaded', integration: 'first' } });
    const { cause, fallbackError } = end.ok ? {} : end.failure;
    expect(fallbackError).toMatchObject({ failure: { integration: 'second', kind: 'auth' } });
    expect((cause as AggregateError).errors).toMatchObject([
      { failure: { integration: 'first' } },
      { failure: { integration: 'second', kind: 'auth' } },
    ]);
  });

  it('[R-11] [R-12] does not know what was done when the other one does not', async () => {
    const { first, second, settle, send } = await startTwo();
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    second.sdk.at(0).say(init, assistant(toolUse('t1', 'Bash', { command: 'rm x' })), toolResult('t1'));
    second.sdk.at(0).refuse(401, 'Invalid API key');
    expect(await outcome).toMatchObject({ failure: { kind: 'overloaded', outcome: 'unknown' } });
  });

  it('[R-8] [R-11] is interrupted while the other one works', async () => {
    const { first, second, settle, conversation, send } = await startTwo();
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await conversation.interrupt();
    expect(await outcome).toMatchObject({ ok: false });
    expect(second.sdk.at(0).interrupts).toBe(1);
    expect(conversation.busy).toBe(false);
  });

  it('[R-11] [R-12] begins when nothing of the first one goes on any more, not before', async () => {
    const { first, second, settle, send } = await startTwo({}, { obeys: false });
    const { outcome } = await send('do it', { idleMs: 10_000 });
    await first.clock.advance(11_999);
    await settle();
    expect(first.sdk.at(0).aborted).toBe(false);
    expect(second.sdk.queries).toHaveLength(0);
    await first.clock.advance(1);
    await settle();
    expect(first.sdk.at(0).aborted).toBe(true);
    second.sdk.at(0).answer('done');
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[R-11] [R-12] does not begin when the first one acts while it is ended', async () => {
    const { first, second, settle, send } = await startTwo({}, { obeys: false });
    const { outcome } = await send('do it', { idleMs: 10_000 });
    await first.clock.advance(10_000);
    first.sdk.at(0).say(assistant(toolUse('t1', 'Bash', { command: 'rm x' })));
    await first.clock.advance(2000);
    await settle();
    expect(second.sdk.queries).toHaveLength(0);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', outcome: 'unknown' } });
  });

  it('[I-1] [R-11] is not asked when the limit of the turn has passed', async () => {
    const { first, second, settle, send } = await startTwo({}, { obeys: false });
    for (const limits of [{ overallMs: 10_000 }, { overallMs: 11_000, idleMs: 10_000 }]) {
      const { outcome } = await send('do it', limits);
      await first.clock.advance(limits.overallMs);
      expect(await outcome).toMatchObject({ failure: { kind: 'timeout', integration: 'first' } });
      await first.clock.advance(10_000);
      await settle();
    }
    expect(second.sdk.queries).toHaveLength(0);
  });

  it('[I-1] [R-11] has what is left of the limit of the turn', async () => {
    const { first, second, settle, send } = await startTwo();
    const { outcome } = await send('do it', { overallMs: 10_000 });
    await first.clock.advance(4000);
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await first.clock.advance(6000);
    await second.clock.advance(5999);
    await settle();
    expect(await Promise.race([outcome, Promise.resolve('pending')])).toBe('pending');
    await second.clock.advance(1);
    const end = await outcome;
    expect(end).toMatchObject({ failure: { kind: 'timeout', integration: 'second' } });
    expect(failuresOf(failureIn(end)).map(({ kind }) => kind)).toEqual(['overloaded', 'timeout']);
  });

  it('[R-8] [R-11] is cancelled when it is interrupted while the other one works', async () => {
    const { first, settle, conversation, send } = await startTwo();
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await conversation.interrupt(new Error('enough'));
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', message: 'Cancelled: enough' } });
  });

  it('[I-1] [R-11] ends though the other one ignores that it is to, and throws', async () => {
    const conversation = ignorant();
    const { first, settle, conversation: own, send } = await startTwo({ fallback: foreign(() => conversation) });
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await own.interrupt();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(own.busy).toBe(false);
    await own.stop();
    expect(conversation.stop).toHaveBeenCalledOnce();
  });

  it('[I-1] [R-11] ends at the limit of the turn though the other one does not know it', async () => {
    const conversation = ignorant();
    const { first, settle, conversation: own, send } = await startTwo({ fallback: foreign(() => conversation) });
    const { outcome } = await send('do it', { overallMs: 10_000 });
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await first.clock.advance(10_049);
    expect(own.busy).toBe(true);
    await first.clock.advance(1);
    expect(await outcome).toMatchObject({
      failure: { kind: 'timeout', integration: 'foreign', outcome: 'unknown', fallbackError: {} },
    });
    expect(conversation.interrupt).toHaveBeenCalledOnce();
  });

  it('[I-1] [R-11] is stopped though the other one never is', async () => {
    const never = new Promise<never>(() => undefined);
    const conversation = { ...ignorant(), interrupt: () => never, stop: () => never };
    const { first, settle, conversation: own, send } = await startTwo({ fallback: foreign(() => conversation) });
    await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    let ended = 0;
    void own.interrupt().then(() => ended++);
    void own.stop().then(() => ended++);
    await settle();
    await first.clock.advance(9999);
    expect(ended).toBe(0);
    await first.clock.advance(1);
    expect(ended).toBe(2);
  });

  it('[R-11] [I-4] keeps its own failure when the other one throws', async () => {
    const fallback = foreign(() => {
      throw new Error('not today');
    });
    const { first, settle, send } = await startTwo({ fallback });
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    expect(await outcome).toMatchObject({
      failure: { kind: 'overloaded', fallbackError: { failure: { integration: 'foreign', message: 'not today' } } },
    });
  });

  it('[I-3] [R-11] stops what the other one begins after it was stopped', async () => {
    const conversation = ignorant();
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const {
      first,
      settle,
      conversation: own,
      send,
    } = await startTwo({
      fallback: foreign(() => begun.then(() => conversation)),
    });
    const { outcome } = await send('do it');
    first.sdk.at(0).refuse(529, 'API Error: 529 Overloaded');
    await settle();
    await own.stop();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    begin();
    await settle();
    expect(conversation.stop).toHaveBeenCalledOnce();
    expect(conversation.send).not.toHaveBeenCalled();
  });
});
