import { describe, expect, it } from 'vitest';
import type { CodexApprover, CodexQuestion } from '../../../../agents/codex/index.ts';
import { Questions } from '../../../../agents/codex/codexQuestions.ts';
import { codexTelemetry } from '../../../../agents/codex/codexTelemetry.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { isSettled } from '../../../support/deferred.ts';
import { RecordedFacts } from '../../../support/facts.ts';
import { says, startThread, type Step } from '../startCodex.ts';

/** A turn in which Codex asks once, and ends when it was answered. */
async function startAsking(
  options: { approve?: CodexApprover; asks?: Step[number]; env?: Record<string, string> } = {},
) {
  const { asks = says.asks(0), approve } = options;
  const started = await startThread(
    { 'turn/start': [[['usual'], asks]], answer: [[says.completed]] },
    approve === undefined ? {} : { approve },
  );
  const outcome = started.thread.send('hi').outcome;
  return { ...started, outcome, answer: async () => (await started.heardOf('answer'))[0] };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('an approval', () => {
  it('[H-4] is given under the id of its request, also when that is 0', async () => {
    const questions: CodexQuestion[] = [];
    const { outcome, answer } = await startAsking({
      approve(question) {
        questions.push(question);
        return 'accept';
      },
    });
    expect(await answer()).toEqual({ id: 0, result: { decision: 'accept' } });
    expect(questions).toMatchObject([
      { kind: 'command', action: 'rm -rf /', thread: 'thread-1', turn: 'turn-1', item: 'c1' },
    ]);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[H-4] is given under an id that is a text', async () => {
    const { answer } = await startAsking({ approve: () => 'accept', asks: says.asks('0') });
    expect(await answer()).toEqual({ id: '0', result: { decision: 'accept' } });
  });

  it('[F-13] [H-4] that nobody gives within 30 s is declined, with a record; the turn goes on', async () => {
    const { clock, of, wait, outcome, answer, heard } = await startAsking({ approve: never });
    await wait('codex.app_server.approval.requested');
    await clock.advance(29_999);
    expect(heard.filter(({ method }) => method === undefined)).toEqual([]);
    await clock.advance(1);
    expect(await answer()).toEqual({ id: 0, result: { decision: 'decline' } });
    expect(of('approval.failed')).toMatchObject([{ failure: 'timeout', action: 'rm -rf /', elapsedMs: 30_000 }]);
    expect(of('codex.app_server.approval.timeout')).toMatchObject([
      { request: 0, decision: 'decline', elapsedMs: 30_000 },
    ]);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[F-14] [H-4] whose hook crashes is declined, with a record and its stack', async () => {
    const { of, answer } = await startAsking({
      approve() {
        throw new Error('hook broke');
      },
    });
    expect(await answer()).toEqual({ id: 0, result: { decision: 'decline' } });
    expect(of('approval.failed')).toMatchObject([{ failure: 'crash', error: 'hook broke' }]);
    expect(of('approval.failed')[0]?.stack).toContain('codexApprovals.slow.test');
  });

  it('[H-4] that says neither yes nor no is declined', async () => {
    const { answer, of } = await startAsking({ approve: () => ({ decision: 'approved' }) as never });
    expect(await answer()).toEqual({ id: 0, result: { decision: 'decline' } });
    expect(of('approval.failed')).toMatchObject([{ failure: 'unreadable' }]);
  });

  it('[H-4] that nobody can be asked for is declined at once', async () => {
    const { answer, of } = await startAsking();
    expect(await answer()).toEqual({ id: 0, result: { decision: 'decline' } });
    expect(of('approval.completed')).toMatchObject([{ decision: 'decline', reason: 'Nobody is there to approve' }]);
  });

  it('[G-14] is no silence of the turn: it has a limit of its own', async () => {
    const { thread, clock, wait } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0)]], answer: [[says.completed]] },
      { approve: never, approvalMs: 50_000 },
    );
    const outcome = thread.send('hi', { idleMs: 10_000 }).outcome;
    await wait('codex.app_server.approval.requested');
    await clock.advance(49_999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[H-4] whose turn is ended is withdrawn, and its handler told so', async () => {
    let signal: AbortSignal | undefined;
    const { thread, wait, answer, of } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0)]] },
      {
        approve(_question, context) {
          signal = context.signal;
          return never();
        },
      },
    ).then((started) => ({ ...started, answer: async () => (await started.heardOf('answer'))[0] }));
    const turn = thread.send('hi');
    await wait('codex.app_server.approval.requested');
    await turn.interrupt();
    expect(await answer()).toEqual({ id: 0, result: { decision: 'decline' } });
    expect(signal?.aborted).toBe(true);
    expect(of('approval.completed')).toMatchObject([{ by: 'cancelled', decision: 'decline' }]);
  });

  it('[H-4] that Codex does not wait for any more is withdrawn', async () => {
    const resolved = [
      'send',
      { method: 'serverRequest/resolved', params: { threadId: '$thread', requestId: 0 } },
    ] as const;
    const { thread, of, wait } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0), resolved]] },
      { approve: never },
    );
    const turn = thread.send('hi');
    await wait('approval.completed');
    expect(of('approval.completed')).toMatchObject([{ by: 'cancelled' }]);
    await turn.interrupt();
  });

  it('is told in the events of its turn', async () => {
    const { thread } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0)]], answer: [[says.completed]] },
      { approve: () => ({ decision: 'decline', reason: 'not today' }) },
    );
    const events: unknown[] = [];
    for await (const event of thread.send('hi')) events.push(event);
    expect(events.slice(1)).toEqual([
      { type: 'approval.requested', approval: '0', kind: 'command', action: 'rm -rf /' },
      { type: 'approval.resolved', approval: '0', kind: 'command', decision: 'decline', reason: 'not today' },
    ]);
  });

  it('is asked under the root supervisor, one child for each question', async () => {
    const { gateway, thread, wait } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0)]] },
      { approve: never },
    );
    const turn = thread.send('hi');
    await wait('codex.app_server.approval.requested');
    expect(gateway.tree().children?.find(({ id }) => id.startsWith('approval:codex:codex'))).toMatchObject({
      restart: 'temporary',
    });
    await turn.interrupt();
  });
});

describe('what else Codex asks', () => {
  it.each([
    [
      'item/fileChange/requestApproval',
      { grantRoot: '/w' },
      { decision: 'accept', forSession: true },
      { decision: 'acceptForSession' },
    ],
    ['item/commandExecution/requestApproval', {}, { decision: 'decline', interrupt: true }, { decision: 'cancel' }],
    [
      'item/permissions/requestApproval',
      { permissions: { network: { enabled: true }, fileSystem: null } },
      'accept',
      { permissions: { network: { enabled: true } }, scope: 'turn' },
    ],
    ['item/permissions/requestApproval', { permissions: {} }, 'decline', { permissions: {}, scope: 'turn' }],
    [
      'item/tool/requestUserInput',
      { questions: [{ id: 'q', question: 'Which?' }] },
      { decision: 'accept', answers: { q: ['a'] } },
      { answers: { q: { answers: ['a'] } } },
    ],
    ['item/tool/requestUserInput', {}, 'accept', { answers: {} }],
    [
      'mcpServer/elicitation/request',
      { message: 'Name?' },
      { decision: 'accept', content: { name: 'x' } },
      { action: 'accept', content: { name: 'x' }, _meta: null },
    ],
    ['mcpServer/elicitation/request', {}, 'decline', { action: 'decline', content: null, _meta: null }],
    [
      'item/tool/call',
      { tool: 't', arguments: {} },
      { decision: 'accept', result: 'out' },
      { contentItems: [{ type: 'inputText', text: 'out' }], success: true },
    ],
    [
      'item/tool/call',
      { tool: 't' },
      'accept',
      { contentItems: [{ type: 'inputText', text: 'The answer lacks what it takes to accept' }], success: false },
    ],
    ['execCommandApproval', { command: ['ls', '-l'] }, 'accept', { decision: 'approved' }],
    ['applyPatchApproval', {}, 'decline', { decision: { denied: { rejection: 'declined' } } }],
  ])('[H-4] %s %j, told %j, is answered %j', async (method, params, reply, result) => {
    const { answer } = await startAsking({ approve: () => reply as 'accept', asks: says.asks(7, method, params) });
    expect(await answer()).toEqual({ id: 7, result });
  });

  it('[H-4] and is accepted without what it takes counts as declined', async () => {
    const asks = says.asks(1, 'item/tool/requestUserInput', {});
    const { answer, wait, logged } = await startAsking({ approve: () => 'accept', asks });
    const completed = wait('codex.app_server.approval.completed');
    expect(await answer()).toEqual({ id: 1, result: { answers: {} } });
    expect(await completed).toMatchObject({ kind: 'userInput', decision: 'decline' });
    expect(logged).toContain('The answer lacks what it takes to accept: userInput');
  });

  it.each<[string, () => object]>([
    [
      'throws when it is looked at',
      () => ({
        decision: 'accept',
        get forSession() {
          throw new Error('no');
        },
      }),
    ],
    ['cannot be written', () => ({ decision: 'accept', content: { size: 1n } })],
  ])('[H-4] [F-14] and is accepted by an answer that %s is declined, and told so', async (_, reply) => {
    const asks = says.asks(1, 'mcpServer/elicitation/request', { message: 'which?' });
    const { answer, wait } = await startAsking({ approve: () => reply() as { decision: 'accept' }, asks });
    const completed = wait('codex.app_server.approval.completed');
    expect(await answer()).toMatchObject({ id: 1, result: { action: 'decline' } });
    expect(await completed).toMatchObject({ decision: 'decline' });
  });

  it('[H-4] [F-15] whose answer Codex never hears was not given', async () => {
    const clock = new SimulatedClock();
    const facts = new RecordedFacts();
    const questions = new Questions({
      codex: { runtime: { clock }, logger: undefined },
      approver: () => Promise.resolve({ decision: 'accept' }),
      telemetry: codexTelemetry(facts, 'codex', 1),
      threads: new Map(),
    });
    const method = 'item/commandExecution/requestApproval';
    questions.ask({ id: 1, method, params: { command: 'ls' }, answer: () => false, fail: () => false });
    await clock.settle();
    expect(facts.of('codex.app_server.approval.completed')).toMatchObject([{ decision: 'decline' }]);
  });

  it('[F-12] and is not known is answered with an error, so that nobody waits for ever', async () => {
    const { answer, logged } = await startAsking({ approve: () => 'accept', asks: says.asks(1, 'brand/new') });
    expect(await answer()).toEqual({
      id: 1,
      error: { code: -32_601, message: 'brand/new is not supported by this client' },
    });
    expect(logged.join('\n')).toContain('brand/new');
  });
});
