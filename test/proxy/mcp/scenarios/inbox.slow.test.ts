import { describe, expect, it } from 'vitest';
import type { Question } from '../../../../src/policy/records/question.ts';
import type { SkippingClock } from '../../../support/skippingClock.ts';
import { type Message, type Scripted, startProxy, textIn } from '../startProxy.ts';

const anna = { by: 'anna', way: 'command' } as const;
const schema = { type: 'object', properties: { ticket: { type: 'string' } }, required: ['ticket'] };
const asked = { message: 'Deploy to production?', requestedSchema: schema };

/** What the server was answered, as its tool tells it. */
const answered = (result: Message): unknown => (JSON.parse(textIn(result)) as Message).result;

/** Lets time pass as it does: in steps in which what is due can be done, so that a call that waits for a person is extended. */
async function pass(clock: SkippingClock, minutes: number): Promise<void> {
  for (let steps = 0; steps < minutes * 12; steps++) {
    clock.skip(5000);
    await new Promise(setImmediate);
  }
}

/** A call of a tool that asks people by its client. */
async function startAsking(options: Scripted = {}, capabilities: object = {}, params: object = asked) {
  const proxy = await startProxy({ inbox: true, ...options });
  await proxy.open(capabilities);
  const { inbox } = proxy.runtime;
  const args = { do: 'ask', method: 'elicitation/create', askId: 'q1', params };
  const call = proxy.ask('tools/call', { name: 'act', arguments: args, _meta: { progressToken: 'p' } });
  const question = async (): Promise<Question> => {
    await expect.poll(async () => (await inbox?.open())?.length).toBe(1);
    return (await inbox?.open())?.[0] as Question;
  };
  const answer = async (given: { decision: 'accept' | 'decline'; value?: unknown }) =>
    inbox?.answer((await question()).id, { ...given, ...anna });
  const isShown = (): boolean => proxy.lines.some((line) => line.includes('"elicitation/create"'));
  return { ...proxy, call, question, answer, isShown };
}

describe('an elicitation behind a proxy with an inbox', () => {
  it('[G-17] [P-3] of a server whose client cannot elicit is answered there, in the form of the protocol', async () => {
    const proxy = await startAsking();
    expect(await proxy.question()).toMatchObject({
      source: 'elicitation',
      asker: 'kb',
      what: 'Deploy to production?',
      form: { is: 'fields', schema },
    });
    const told = await proxy.seen(({ method }) => method === 'notifications/progress');
    expect(String(told.params?.['message'])).toMatch(/^A person was asked .*, who can answer until /);
    await proxy.answer({ decision: 'accept', value: { ticket: 'T-1' } });
    const result = await proxy.call;
    expect(answered(result)).toEqual({ action: 'accept', content: { ticket: 'T-1' } });
    expect(result.result?.content?.at(-1)?.text).toContain('allowed by anna (command)');
    expect(proxy.isShown()).toBe(false);
  });

  it('[G-17] [H-4] that is declined is declined, and one that nobody answers is cancelled', async () => {
    const declined = await startAsking();
    await declined.answer({ decision: 'decline' });
    expect(answered(await declined.call)).toEqual({ action: 'decline' });
    const expired = await startAsking();
    await expired.question();
    await pass(expired.clock, 15);
    const result = await expired.call;
    expect(answered(result)).toEqual({ action: 'cancel' });
    expect(result.result?.content?.at(-1)?.text).toContain('nobody answered until');
  });

  it('[G-17] without fields is yes or no', async () => {
    const proxy = await startAsking({}, {}, { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } });
    expect(await proxy.question()).toMatchObject({ form: { is: 'decision' } });
    await proxy.answer({ decision: 'accept' });
    expect(answered(await proxy.call)).toEqual({ action: 'accept', content: {} });
  });

  it('[G-17] [P-3] is the client’s where it can elicit; one that it dismisses before a person can have read it is put to people', async () => {
    const proxy = await startAsking({}, { elicitation: {} });
    await proxy.seen(({ method }) => method === 'elicitation/create');
    expect(await proxy.runtime.inbox?.open()).toEqual([]);
    proxy.raw('{"jsonrpc":"2.0","id":"q1","result":{"action":"cancel"}}');
    await proxy.answer({ decision: 'accept', value: { ticket: 'T-2' } });
    expect(answered(await proxy.call)).toMatchObject({ action: 'accept' });
    const read = await startAsking({}, { elicitation: {} });
    await read.seen(({ method }) => method === 'elicitation/create');
    read.clock.skip(2000);
    read.raw('{"jsonrpc":"2.0","id":"q1","result":{"action":"cancel"}}');
    expect(answered(await read.call)).toEqual({ action: 'cancel' });
  });

  it('[G-17] is withdrawn with the call that it was asked for, and the server hears that', async () => {
    const proxy = await startAsking();
    await proxy.question();
    proxy.notify('notifications/cancelled', { requestId: 't3', reason: 'a person did' });
    await expect.poll(async () => (await proxy.runtime.inbox?.open())?.length).toBe(0);
    await expect.poll(async () => (await proxy.received()).join()).toContain('"result":{"action":"cancel"}');
  });

  it('[G-17] is withdrawn when its client leaves', async () => {
    const proxy = await startAsking();
    await proxy.question();
    proxy.input.end();
    await expect.poll(async () => (await proxy.runtime.inbox?.open())?.length).toBe(0);
  });

  it('[G-17] [P-3] has its call wait as long as the person', async () => {
    const proxy = await startAsking({ overallMs: 60_000 });
    await proxy.question();
    await pass(proxy.clock, 12);
    await proxy.answer({ decision: 'accept', value: { ticket: 'T-3' } });
    expect(answered(await proxy.call)).toMatchObject({ action: 'accept' });
  });
});
