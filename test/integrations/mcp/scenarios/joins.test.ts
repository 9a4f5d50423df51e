import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Turn } from '../../../../src/index.ts';
import { type FakeMcpContext, fakeMcpServer } from '../../../../testing/fakeMcpServer.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { deferred } from '../../../support/deferred.ts';

/** A gateway with a server whose reads the test answers, and two sessions. */
async function start() {
  const clock = new SimulatedClock();
  const gateway = createGateway({ logger: false, control: false, clock });
  onTestFinished(() => gateway.stop());
  const reads: (ReturnType<typeof deferred<string>> & FakeMcpContext)[] = [];
  const read = (_: unknown, context: FakeMcpContext): Promise<string> => {
    const made = { ...deferred<string>(), ...context };
    reads.push(made);
    return made.promise;
  };
  const kb = gateway.mcpServer('kb', {
    ...fakeMcpServer({ tools: { read, write: () => 'written' } }),
    tools: { read: { join: true, keepMs: 0 } },
  });
  const waiting: ((turn: Turn) => Promise<unknown>)[] = [];
  const onMessage = async (_: unknown, turn: Turn): Promise<void> => void (await waiting.shift()?.(turn));
  const sessions = { one: gateway.session('one', { onMessage }), other: gateway.session('other', { onMessage }) };
  await gateway.start();
  await clock.settle();
  /** Has a session do this in a turn. */
  const turn = async <T>(of: 'one' | 'other', work: (turn: Turn) => Promise<T>): Promise<() => Promise<T>> => {
    const done = deferred<T>();
    waiting.push(async (each) => done.resolve(await work(each)));
    await sessions[of].send({ kind: 'user', text: 'go' });
    await clock.settle();
    return () => done.promise;
  };
  return { kb, clock, reads, turn, gateway };
}

describe('equal reads of one session', () => {
  it('[P-13] that are under way are one call of the server', async () => {
    const { reads, turn, clock } = await start();
    const both = await turn('one', (each) => Promise.all([1, 2].map(() => each.tool('kb', 'read', { a: 1 }))));
    expect(reads).toHaveLength(1);
    reads[0]?.resolve('here');
    await clock.settle();
    expect(await both()).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
  });

  it('[P-13] of another session, of other arguments, and of no session are others', async () => {
    const { kb, reads, turn, clock } = await start();
    await turn('one', (each) => Promise.all([each.tool('kb', 'read', { a: 1 }), each.tool('kb', 'read', { a: 2 })]));
    await turn('other', (each) => each.tool('kb', 'read', { a: 1 }));
    void kb.call({ name: 'read', arguments: { a: 1 } });
    void kb.call({ name: 'read', arguments: { a: 1 } });
    await clock.settle();
    expect(reads).toHaveLength(5);
    for (const each of reads) each.resolve('over');
    await clock.settle();
  });

  it('[P-13] join none that began before a call that may have effects ended', async () => {
    const { reads, turn, clock } = await start();
    await turn('one', async (each) => {
      const first = each.tool('kb', 'read', {});
      await each.tool('kb', 'write', {});
      await Promise.all([first, each.tool('kb', 'read', {})]);
    });
    await clock.settle();
    expect(reads).toHaveLength(2);
    for (const each of reads) each.resolve('over');
    await clock.settle();
  });

  it('[P-13] one that gives up ends no other; the last one cancels the call', async () => {
    const { reads, turn, clock } = await start();
    const [first, second] = [new AbortController(), new AbortController()];
    const results = await turn('one', (each) =>
      Promise.all([first, second].map(({ signal }) => each.tool('kb', 'read', {}, { signal }))),
    );
    expect(reads).toHaveLength(1);
    first.abort('enough');
    await clock.settle();
    expect(reads[0]?.signal.aborted).toBe(false);
    second.abort('enough');
    await clock.settle();
    expect(reads[0]?.signal.aborted).toBe(true);
    expect(await results()).toMatchObject([{ status: 'error' }, { status: 'error' }]);
  });
});
