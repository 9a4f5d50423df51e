import { describe, expect, it } from 'vitest';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { deferred } from '../../support/deferred.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { startSession } from '../../support/startSession.ts';

async function startKept(onMessage: MessageHandler) {
  const store = new HeldStore();
  const started = startSession({ onMessage }, undefined, { kept: true });
  await started.session.open(store);
  const send = async () => {
    const acceptance = started.session.send({ kind: 'user' });
    await store.commitAll(started.clock);
    const given = await acceptance;
    if (!given.accepted) throw new Error('refused');
    return given;
  };
  return { ...started, store, send };
}

describe('a turn that a stop cuts', () => {
  it('[G-11] [I-5] has its message put back though its handler returns normally', async () => {
    const { session, clock, store, tool, send } = await startKept(async (_message, turn) => turn.tool('kb', 'query'));
    tool('kb', () => new Promise(() => undefined));
    const { processed } = await send();
    session.close();
    await store.commitAll(clock);
    expect(store.writes.slice(-2)).toEqual(['settle agent:main-1-1 error', 'put back 1 begun']);
    expect(await processed).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'stopped' } });
    expect(session.history.at(-1)).toMatchObject({
      type: 'tool_result',
      result: { synthetic: true, kind: 'cancelled' },
    });
  });

  it('[G-11] [I-4] is on record as its sender is told: cancelled, and no failure', async () => {
    const { session, clock, store, facts, tool, send } = await startKept(async (_message, turn) => {
      await turn.tool('kb', 'query');
    });
    tool('kb', () => new Promise(() => undefined));
    await send();
    session.close();
    await store.commitAll(clock);
    const error = 'The session stops here; a message that is kept is delivered again';
    expect(facts.of('session.turn_ended')).toMatchObject([{ ok: false, error }]);
    expect(facts.of('session.turn_failed')).toEqual([]);
  });

  it('[G-11] [I-5] is told to its senders as what it is: none of its messages is said not to happen', async () => {
    const { session, clock, store, tool, send } = await startKept((_message, turn) => turn.tool('kb', 'query'));
    tool('kb', () => new Promise(() => undefined));
    const [cut, waits] = [await send(), await send()];
    session.close();
    await store.commitAll(clock);
    for (const { processed } of [cut, waits])
      expect(await processed).toMatchObject({
        failure: {
          ...{ kind: 'cancelled', reason: 'stopped', outcome: 'unknown' },
          message: 'The session stops here; a message that is kept is delivered again',
        },
      });
    const unkept = startSession({ onMessage: () => new Promise(() => undefined) });
    await unkept.session.send({ kind: 'user' });
    const lost = await unkept.session.send({ kind: 'user' });
    unkept.session.close();
    expect(lost.accepted && (await lost.processed)).toMatchObject({
      failure: { message: 'The session stops', outcome: 'not_started' },
    });
  });

  it('[G-11] is told by its signal as soon as the session is closed', async () => {
    const go = deferred<undefined>();
    const signals: boolean[] = [];
    const { session, clock, store, send } = await startKept(async (_message, turn) => {
      await go.promise;
      signals.push(turn.signal.aborted);
    });
    await send();
    session.close();
    go.resolve(undefined);
    await store.commitAll(clock);
    expect([signals, store.writes.at(-1)]).toEqual([[true], 'put back 1 begun']);
  });

  it('[G-11] does not have its message put back once its handler has called done()', async () => {
    const durable: boolean[] = [];
    const { session, clock, store, tool, send } = await startKept(async (_message, turn) => {
      durable.push(await turn.done());
      return turn.tool('kb', 'query');
    });
    tool('kb', () => new Promise(() => undefined));
    await send();
    expect([durable, store.writes]).toEqual([[true], ['post 1', 'take 1', 'done 1', 'open agent:main-1-1']]);
    session.close();
    await store.commitAll(clock);
    expect(store.writes.slice(-2)).toEqual(['settle agent:main-1-1 error', 'done 1']);
  });

  it('[G-11] does not have its message put back when its watchdog was faster than the stop', async () => {
    const go = deferred<undefined>();
    const { session, clock, store, send } = await startKept(() => go.promise);
    await send();
    await clock.advance(600_000);
    session.close();
    go.resolve(undefined);
    await store.commitAll(clock);
    expect(store.writes.at(-1)).toBe('done 1');
  });
});

describe('turn.done()', () => {
  it('leaves a failure of the handler what it is', async () => {
    const { store, send } = await startKept(async (_message, turn) => {
      await turn.done();
      throw new Error('after all');
    });
    const { processed } = await send();
    expect(store.writes.slice(-2)).toEqual(['done 1', 'failed 1']);
    expect(await processed).toMatchObject({ ok: false, failure: { message: 'after all' } });
  });

  it('says nothing for a turn that was left behind', async () => {
    const late = deferred<boolean>();
    const go = deferred<undefined>();
    const { session, clock, store, send } = await startKept(async (_message, turn) => {
      await go.promise;
      late.resolve(await turn.done());
    });
    await send();
    await clock.advance(600_000);
    await clock.advance(5_000);
    expect(session.state).toBe('idle');
    await store.commitAll(clock);
    const writes = [...store.writes];
    go.resolve(undefined);
    expect([await late.promise, store.writes]).toEqual([false, writes]);
  });

  it('promises nothing where nothing is kept', async () => {
    const durable = deferred<boolean>();
    const { session } = startSession({ onMessage: async (_message, turn) => durable.resolve(await turn.done()) });
    await session.send({ kind: 'user' });
    expect(await durable.promise).toBe(false);
  });
});
