import { describe, expect, it } from 'vitest';
import type { EffectOutcome } from '../../../src/policy/failures/failure.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { deferred } from '../../support/deferred.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { ReactingFacts } from '../../support/reactingFacts.ts';
import { fault } from '../../support/startIntegration.ts';
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
    session.stop();
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
    session.stop();
    await store.commitAll(clock);
    const error = 'The session stops here; a message that is kept is delivered again';
    expect(facts.of('session.turn_ended')).toMatchObject([{ ok: false, error }]);
    expect(facts.of('session.turn_failed')).toEqual([]);
  });

  it('[G-11] [I-5] is told to its senders as what it is: none of its messages is said not to happen', async () => {
    const { session, clock, store, tool, send } = await startKept((_message, turn) => turn.tool('kb', 'query'));
    tool('kb', () => new Promise(() => undefined));
    const [cut, waits] = [await send(), await send()];
    session.stop();
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
    unkept.session.stop();
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
    session.stop();
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
    session.stop();
    await store.commitAll(clock);
    expect(store.writes.slice(-2)).toEqual(['settle agent:main-1-1 error', 'done 1']);
  });

  it('[G-11] does not have its message put back when its watchdog was faster than the stop', async () => {
    const go = deferred<undefined>();
    const { session, clock, store, send } = await startKept(() => go.promise);
    await send();
    await clock.advance(600_000);
    session.stop();
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

type Started = ReturnType<typeof startSession>;

/** Every way in which a session ends a call of its turn. */
const ends: readonly (readonly [what: string, end: (started: Started) => unknown])[] = [
  ['a stop', ({ session }) => session.stop()],
  ['an operator who cancels the call', ({ session }) => session.cancel('agent:main-1-1')],
  ['an operator who cancels the turn', ({ session }) => session.cancel()],
  [
    'its watchdog',
    ({ session }) => session.fire(`${session.why().rules.find(({ rule }) => rule === 'tool_call')?.id}`),
  ],
  ['a crash of its session', ({ incarnate }) => incarnate()],
];

/** A turn whose call is tried as often as there are outcomes, and waits or hangs then. */
async function startTried(outcomes: readonly (EffectOutcome | { readonly later: EffectOutcome })[]) {
  const facts = new ReactingFacts();
  const left = [...outcomes];
  let attempts = 0;
  const started = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') }, facts);
  started.tool('kb', () => {
    attempts++;
    const outcome = left.shift();
    if (outcome === undefined) return new Promise(() => undefined);
    if (typeof outcome === 'object') return Promise.reject(fault('transient', { outcome: outcome.later }));
    throw fault('transient', { outcome });
  });
  const begin = async (): Promise<void> => {
    await started.session.send({ kind: 'user' });
    while (left.length > 0) await started.clock.advance(10);
  };
  const resultOf = async () => {
    await started.clock.settle();
    return started.session.history.find(({ type }) => type === 'tool_result');
  };
  return { ...started, facts, begin, resultOf, attempts: () => attempts };
}

describe.each(ends)('a call that is ended by %s', (_, end) => {
  it.each<[string, readonly EffectOutcome[], EffectOutcome]>([
    ['failed', ['failed'], 'failed'],
    ['not started', ['not_started'], 'not_started'],
    ['failed, after one that was not started', ['not_started', 'failed'], 'failed'],
    ['not known', ['unknown'], 'unknown'],
    ['not known, before one that failed', ['unknown', 'failed'], 'unknown'],
  ])(
    '[R-12] [G-11] while it waits to be tried again is told as its attempts are: %s',
    async (_what, outcomes, outcome) => {
      const started = await startTried(outcomes);
      await started.begin();
      expect(started.session.why().calls).toMatchObject([{ progress: { phase: 'backoff' } }]);
      end(started);
      expect(await started.resultOf()).toMatchObject({ result: { outcome, retries: outcomes.length - 1 } });
      expect(started.facts.of('session.tool_failed')).toMatchObject([{ outcome, retries: outcomes.length - 1 }]);
    },
  );

  it('[R-12] [G-11] by a listener that hears of the attempt is told so too', async () => {
    const started = await startTried([{ later: 'failed' }]);
    started.facts.once('call.retried', () => end(started));
    await started.begin();
    expect(await started.resultOf()).toMatchObject({ result: { outcome: 'failed', retries: 0 } });
    expect(started.facts.of('session.tool_failed')).toMatchObject([{ outcome: 'failed' }]);
  });

  it('[G-11] by such a listener while it is being made is not made again', async () => {
    const started = await startTried(['failed']);
    started.facts.once('call.retried', () => end(started));
    await started.begin();
    await started.clock.advance(60_000);
    expect(await started.resultOf()).toMatchObject({ result: { status: 'error' } });
    expect(started.attempts()).toBe(1);
  });

  it('[R-12] [G-11] while an attempt is under way may have taken effect', async () => {
    const started = await startTried([]);
    await started.begin();
    end(started);
    const outcome: unknown = expect.stringMatching(/^(?:unknown|cancelled)$/);
    expect(await started.resultOf()).toMatchObject({ result: { outcome } });
  });
});
