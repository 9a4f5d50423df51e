import { describe, expect, it } from 'vitest';
import type { Question } from '../../../../src/policy/records/question.ts';
import { startAcp, type StartOptions } from '../startAcp.ts';

const minute = 60_000;
const anna = { by: 'anna', way: 'command' } as const;
const chooses = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });

/** A turn in which the agent asks for a permission, with an inbox. */
async function startAsking(options: StartOptions = {}) {
  const acp = await startAcp({ inbox: true, ...options });
  await acp.open();
  acp.prompt(1, 'ask edit');
  await acp.settle();
  const { inbox } = acp.registry.runtime;
  const open = async (): Promise<readonly Question[]> => (await inbox?.open()) ?? [];
  const [question] = await open();
  const answer = async (given: { decision: 'accept' | 'decline'; value?: string }) => {
    const result = await inbox?.answer(question?.id ?? '', { ...given, ...anna });
    await acp.settle();
    return result;
  };
  const replies = () =>
    acp.heard().flatMap(({ id, method, result }) => (id === 0 && method === undefined ? [result] : []));
  const withdrawn = () =>
    acp.messages.filter(({ method }) => method === '$/cancel_request').map(({ params }) => params);
  const reply = async (message: object): Promise<void> => {
    acp.send({ id: 0, ...message });
    await acp.settle();
  };
  return { ...acp, question, open, answer, replies, withdrawn, reply };
}

describe('a permission behind a proxy with an inbox', () => {
  it('[G-17] [A-3] is a row of it with its options, and shown to the editor; who answers there is first', async () => {
    const acp = await startAsking();
    expect(acp.messages.some(({ method }) => method === 'session/request_permission')).toBe(true);
    expect(acp.question).toMatchObject({ source: 'permission', asker: 'faulty', session: 'session-1', what: 'edit' });
    expect(acp.question?.form).toMatchObject({ is: 'choice', options: [{ id: 'allow_once' }, { id: 'reject_once' }] });
    expect(await acp.answer({ decision: 'accept', value: 'allow_once' })).toMatchObject({ ok: true });
    expect(acp.replies()).toEqual([chooses('allow_once')]);
    expect(acp.withdrawn()).toEqual([{ requestId: 0 }]);
    expect(acp.texts('session-1')).toBe('');
    await acp.reply({ result: chooses('reject_once') });
    expect(acp.replies()).toHaveLength(1);
    expect(acp.answer).toBeDefined();
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'end_turn' } }]);
  });

  it('[G-17] is what the editor answers, where it is first, on record as the answer of the client', async () => {
    const acp = await startAsking();
    await acp.reply({ result: chooses('allow_once') });
    expect(acp.replies()).toEqual([chooses('allow_once')]);
    expect(acp.facts('question.answered')).toMatchObject([{ by: 'the client', way: 'handler', decision: 'accept' }]);
    expect(await acp.answer({ decision: 'decline' })).toMatchObject({ ok: false });
    expect(acp.replies()).toHaveLength(1);
    expect(acp.withdrawn()).toEqual([]);
  });

  it('[G-17] [H-4] that nobody answers within 15 min is refused, and never allowed', async () => {
    const acp = await startAsking();
    await acp.clock.advance(15 * minute - 1);
    expect(acp.replies()).toEqual([]);
    await acp.clock.advance(1);
    expect(acp.replies()).toEqual([chooses('reject_once')]);
    expect(acp.withdrawn()).toEqual([{ requestId: 0 }]);
    await acp.reply({ result: chooses('allow_once') });
    expect(acp.replies()).toHaveLength(1);
  });

  it('[G-17] that is declined is refused for this once', async () => {
    const acp = await startAsking();
    await acp.answer({ decision: 'decline' });
    expect(acp.replies()).toEqual([chooses('reject_once')]);
  });

  it.each([
    ['refuses the question', { error: { code: -32_601, message: 'Method not found' } }],
    ['dismisses it at once', { result: { outcome: { outcome: 'cancelled' } } }],
    ['chooses what was not offered', { error: { code: -32_603, message: 'no person' } }],
  ])('[G-17] is left to people where the client has none: it %s', async (_, message) => {
    const acp = await startAsking();
    await acp.reply(message);
    expect(acp.replies()).toEqual([]);
    await acp.answer({ decision: 'accept', value: 'allow_once' });
    expect(acp.replies()).toEqual([chooses('allow_once')]);
    expect(acp.withdrawn()).toEqual([]);
  });

  it('[G-17] is withdrawn with its turn, its agent and its client', async () => {
    const cancelled = await startAsking();
    cancelled.cancel();
    await cancelled.settle();
    expect(await cancelled.open()).toEqual([]);
    expect(cancelled.replies()).toEqual([{ outcome: { outcome: 'cancelled' } }]);
    const dismissed = await startAsking();
    await dismissed.clock.advance(3000);
    await dismissed.reply({ result: { outcome: { outcome: 'cancelled' } } });
    expect(await dismissed.open()).toEqual([]);
    expect(dismissed.replies()).toEqual([{ outcome: { outcome: 'cancelled' } }]);
    const left = await startAsking();
    left.input.end();
    await left.settle();
    expect(await left.open()).toEqual([]);
  });

  it('[G-17] [A-3] is the editor’s alone where no inbox is on', async () => {
    const acp = await startAsking({ inbox: false });
    await acp.reply({ result: { outcome: { outcome: 'cancelled' } } });
    expect(acp.replies()).toEqual([{ outcome: { outcome: 'cancelled' } }]);
  });
});
