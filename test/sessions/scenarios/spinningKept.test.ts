import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Fact, Told } from '../../../src/policy/facts/facts.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import type { HistoryEntry } from '../../../src/sessions/history.ts';
import type { SessionOptions } from '../../../src/sessions/sessionOptions.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { startKept } from '../../support/keptSession.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const failing = (): never => {
  throw new AttemptError({ kind: 'permanent', message: 'String not found', outcome: 'failed' });
};

interface Run {
  /** Calls that its handler makes of a message. */
  readonly calls: number;
  /** Stops in the middle of the message then. */
  readonly cut?: boolean;
  readonly spinning?: SessionOptions['spinning'];
}

/** Runs a gateway on a store until its handler has made its calls for one message, which is sent to the first one. */
async function run(store: string, { calls, cut = false, spinning }: Run, answer: () => unknown = failing) {
  const gateway = createGateway({ store, control: false, sessions: { ...(spinning !== undefined && { spinning }) } });
  onTestFinished(() => gateway.stop());
  const facts: Told<Fact>[] = [];
  gateway.on('session.spinning', (fact) => void facts.push(fact));
  let dispatched = 0;
  gateway.integration('files', { tools: { look: { effect: 'readOnly' } } }, () => {
    dispatched++;
    return answer();
  });
  const results: ToolResult[] = [];
  let made = (): void => undefined;
  const all = new Promise<void>((resolve) => (made = resolve));
  const session = gateway.session('agent:main', {
    onMessage: async (_message, turn) => {
      for (let each = 0; each < calls && !turn.signal.aborted; each++)
        results.push(await turn.tool('files', answer === failing ? 'edit' : 'look', { a: 1, b: { c: 2 } }));
      made();
      if (cut) await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    },
  });
  const ended = gateway.wait('session.turn_ended');
  await gateway.start();
  if (session.waiting === 0 && session.why().turn === undefined) await session.send({ kind: 'user' });
  await (cut ? all : ended);
  const { history } = session;
  await gateway.stop();
  const notes = results.flatMap(({ note }, index) => (note === undefined ? [] : [index + 1]));
  const news = facts.map((fact) => (fact.type === 'session.spinning' ? `${fact.step} ${fact.count}` : ''));
  return { results, history, dispatched, notes, news };
}

const freshPath = (): string => join(temporaryDirectory(), 'gateway.sqlite');

describe.skipIf(!hasSqlite)('the repetition of a session that is kept', () => {
  it('[G-15] goes on with its counts after a restart in the middle of a message, and says no word twice', async () => {
    const store = freshPath();
    const first = await run(store, { calls: 13, cut: true });
    expect([first.notes, first.news]).toEqual([
      [6, 12],
      ['notice 4', 'tell 6'],
    ]);
    const second = await run(store, { calls: 99 });
    expect([second.dispatched, second.notes, second.news]).toEqual([7, [5, 7], ['end 20']]);
    expect(second.results[5]).toEqual({ status: 'error', error: 'String not found', retries: 0, recoverable: false });
    const told = second.results[4];
    expect(told?.status === 'error' && told.error).toBe(`String not found ${told?.note}`);
    expect(told?.note).toContain('called 18 times');
    const of = (wanted: string) => second.history.filter(({ type }) => type === wanted).length;
    expect([of('tool_call'), of('tool_result')]).toEqual([20, 20]);
  });

  it('[G-15] counts over messages for words, and within a message for the end, also after restarts', async () => {
    const store = freshPath();
    await run(store, { calls: 15 });
    const second = await run(store, { calls: 15 });
    expect([second.dispatched, second.notes]).toEqual([15, [3, 9, 15]]);
    const third = await run(store, { calls: 99 });
    expect([third.dispatched, third.news]).toEqual([20, ['end 50']]);
  });

  it('[G-15] counts all deliveries of a message for its end, of which the last alone is kept', async () => {
    const store = freshPath();
    for (const _ of [1, 2]) await run(store, { calls: 8, cut: true });
    const third = await run(store, { calls: 99 });
    expect([third.dispatched, third.news]).toEqual([4, ['end 20']]);
  });

  it('[G-15] of a read goes on with its count, the words that were added to its answers taken out', async () => {
    const store = freshPath();
    const look = () => ({ content: [{ type: 'text', text: 'no change' }] });
    const first = await run(store, { calls: 12 }, look);
    expect(first.notes).toEqual([12]);
    const second = await run(store, { calls: 12 }, look);
    expect([second.notes, second.results[11]?.note]).toEqual([[12], expect.stringContaining('called 24 times')]);
  });

  it('[G-15] that is refused is refused on after a restart, each call with one result', async () => {
    const store = freshPath();
    await run(store, { calls: 23, cut: true, spinning: 'hold' });
    const second = await run(store, { calls: 2, spinning: 'hold' });
    expect([second.dispatched, second.results]).toMatchObject([
      0,
      [{ kind: 'spinning', error: expect.stringContaining('called 24 times') as unknown }, {}],
    ]);
    expect(second.history.filter(({ type }) => type === 'tool_result')).toHaveLength(25);
  });
});

/** A message and failures of its turn, as another runtime has left them. */
function pastOf(failures: number): readonly HistoryEntry[] {
  const message: HistoryEntry = { type: 'message', turn: 1, id: 'agent:main-m1', message: { kind: 'user' }, at: 1 };
  const calls = Array.from({ length: failures }, (_, index): HistoryEntry[] => {
    const about = { turn: 1, call: `agent:main-1-${index + 1}`, at: 1 };
    const result: ToolResult = { status: 'error', error: 'String not found', retries: 0, recoverable: false };
    return [
      { type: 'tool_call', ...about, integration: 'files', tool: 'edit', input: {} },
      { type: 'tool_result', ...about, result },
    ];
  });
  return [message, ...calls.flat()];
}

describe('the repetition of a session that another runtime had', () => {
  it('[G-15] goes on with its counts where it is taken over, and where it comes back', async () => {
    const results: ToolResult[] = [];
    const { session, clock, store, tool } = await startKept(async (_message, turn) => {
      results.push(await turn.tool('files', 'edit', {}));
    });
    tool('files', failing);
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    expect(results.at(-1)?.note).toBeUndefined();
    store.commit();
    void session.send({ kind: 'user' });
    await clock.settle();
    store.commit('fenced');
    await clock.settle();
    expect(session.heldElsewhere).toBe(true);
    const back = new HeldStore();
    back.recovered = { history: pastOf(5), lastTurn: 1, lastMessage: 1, lastSeq: 11 };
    await session.open(back);
    void session.send({ kind: 'user' });
    await back.commitAll(clock);
    expect(results.at(-1)?.note).toContain('called 6 times');
  });

  it('[G-15] opens and settles a call that is refused in one commit, and does not dispatch it', async () => {
    const store = new HeldStore();
    store.recovered = { history: pastOf(20), lastTurn: 1, lastMessage: 1, lastSeq: 41 };
    const waiting = { number: 1, message: { kind: 'user' }, key: undefined, at: 0, deliveries: 1 };
    store.recovered = { ...store.recovered, waiting: [waiting] };
    let dispatched = 0;
    const { clock, facts, tool } = await startKept((_message, turn) => turn.tool('files', 'edit', {}), {}, store);
    tool('files', () => ++dispatched);
    await store.commitAll(clock);
    expect([dispatched, store.writes.slice(-3)]).toEqual([
      0,
      ['open agent:main-2-1', 'settle agent:main-2-1 error', 'failed 1'],
    ]);
    expect(facts.of('session.turn_failed')).toMatchObject([{ kind: 'spinning' }]);
    // It was told by the runtime that had it before.
    expect(facts.of('session.spinning')).toEqual([]);
  });
});
