import { describe, expect, it } from 'vitest';
import { fromCallback, setup } from 'xstate';
import { sessionMachine, type SessionRef } from '../../../src/machines/session.ts';
import type { WatchdogOptions } from '../../../src/index.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import { createRootSupervisor } from '../../../src/supervisor/supervisor.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { startIntegration } from '../../support/startIntegration.ts';
import { startSession } from '../../support/startSession.ts';
import { startRoot } from '../startRoot.ts';

/** A session under a supervisor; a turn of kind `hangs` ends when the test says so, whatever its signal says. */
function startSupervised(watchdog: WatchdogOptions = {}, handlers: Record<string, () => void> = {}) {
  const hung = deferred<string>();
  const handled: string[] = [];
  const turns: Turn[] = [];
  const started = startSession({
    watchdog,
    onMessage: ({ kind }, turn) => {
      handled.push(kind);
      turns.push(turn);
      handlers[kind]?.();
      return kind === 'hangs' ? hung.promise : kind;
    },
  });
  const { session, clock, facts } = started;
  const root = createRootSupervisor({ clock, random: () => 0.5, facts });
  root.start();
  root.startChild({
    id: 'session',
    logic: sessionMachine,
    input: { session: 'agent:main', ...session.limits },
    shutdown: session.limits.releaseMs + 1000,
    onStart: (ref, incarnation) => session.attach(ref as SessionRef, incarnation),
  });
  const send = async (kind: string) => {
    const accepted = await session.send({ kind });
    if (!accepted.accepted) throw new Error(accepted.reason);
    return accepted.processed;
  };
  /** Has the session's actor throw, as one with a bug would. */
  const crashActor = () => {
    const poison = { type: 'turn.stalled', turn: 0 } as const;
    const get = () => {
      throw new Error('machine bug');
    };
    root.send('session', Object.defineProperty(poison, 'turn', { get }));
  };
  return { ...started, root, hung, handled, turns, send, crashActor };
}

describe('a handler that is stuck', () => {
  it('[I-2] scenario 41: is left behind, and each message that waited is handed on once, in order', async () => {
    const { clock, send, handled, facts } = startSupervised();
    const sent = ['hangs', 'first', 'second'].map(send);
    await clock.advance(604_999);
    expect(handled).toEqual(['hangs']);
    await clock.advance(1);
    expect(await Promise.all(sent)).toMatchObject([
      { ok: false, failure: { kind: 'watchdog', outcome: 'unknown' } },
      { ok: true, value: 'first' },
      { ok: true, value: 'second' },
    ]);
    expect(handled).toEqual(['hangs', 'first', 'second']);
    expect(facts.of('session.recovered')).toMatchObject([{ turn: 1, releasedAfterMs: 5000 }]);
  });

  it('[I-2] scenario 41: whose session crashes leaves what waits to a fresh incarnation, once', async () => {
    const { root, clock, session, send, handled, crashActor } = startSupervised();
    const sent = ['hangs', 'first', 'second'].map(send);
    await clock.settle();
    crashActor();
    expect(session.waiting).toBe(2);
    await clock.advance(100);
    expect(await Promise.all(sent)).toMatchObject([
      { ok: false, failure: { kind: 'crash', outcome: 'unknown' } },
      { ok: true, value: 'first' },
      { ok: true, value: 'second' },
    ]);
    expect(handled).toEqual(['hangs', 'first', 'second']);
    expect(root.tree().children).toMatchObject([{ state: 'running', incarnation: 2 }]);
  });

  it('[I-2] scenario 28: a crash while the waiting messages are handed on keeps those behind it, each handed on once', async () => {
    const { root, clock, send, handled, crashActor } = startSupervised({}, { dies: () => crashActor() });
    const sent = ['hangs', 'dies', 'first', 'second'].map(send);
    await clock.settle();
    crashActor();
    await clock.advance(1000);
    expect((await Promise.all(sent)).map(({ ok }) => ok)).toEqual([false, true, true, true]);
    expect(handled).toEqual(['hangs', 'dies', 'first', 'second']);
    expect(root.tree().children).toMatchObject([{ state: 'running', incarnation: 3 }]);
  });

  it('[V-3] scenario 41: in its start is ended by its own limit, and its supervisor tries again', async () => {
    const starting = setup({ actors: { handshake: fromCallback(() => undefined) } }).createMachine({
      initial: 'starting',
      states: {
        starting: {
          invoke: { src: 'handshake' },
          after: {
            1000: {
              actions: () => {
                throw new Error('no handshake within 1000 ms');
              },
            },
          },
        },
      },
    });
    const { root, clock, node } = startRoot([{ id: 'a', logic: starting }]);
    await clock.advance(999);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 1 });
    await clock.advance(101);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2, lastError: 'no handshake within 1000 ms' });
    await clock.advance(10_000);
    expect(node('a')).toMatchObject({ state: 'quarantined', restarts: 3 });
    expect(root.tree().state).toBe('running');
  });

  it('[V-5] [I-3] scenario 41: in the stop of its session ends with its release, and leaves nothing behind', async () => {
    const { root, clock, session, deadlines, send } = startSupervised();
    const sent = send('hangs');
    await clock.settle();
    session.stop();
    const stop = root.stop().then(() => session.ended());
    await clock.advance(4999);
    expect(await isSettled(stop)).toBe(false);
    await clock.advance(1);
    expect(await isSettled(stop)).toBe(true);
    expect(await sent).toMatchObject({ ok: false, failure: { reason: 'stopped' } });
    expect([deadlines.size, clock.pending]).toEqual([0, 0]);
  });
});

describe('what finishes after it was abandoned', () => {
  it('[I-3] scenario 42: a turn changes nothing of the session, its result is delivered to nobody', async () => {
    const { clock, session, send, hung, turns, tool, facts } = startSupervised();
    let calls = 0;
    tool('kb', () => ++calls);
    const outcome = send('hangs');
    await clock.advance(605_000);
    const next = await ((await session.send({ kind: 'next' })) as { processed: Promise<unknown> }).processed;
    const [history, told] = [session.history.length, facts.of('session.turn_ended').length];
    hung.resolve('too late');
    turns[0]?.touch();
    expect(await turns[0]?.tool('kb', 'query')).toMatchObject({
      status: 'error',
      synthetic: true,
      outcome: 'not_started',
    });
    await clock.advance(1000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'watchdog' } });
    expect(next).toEqual({ ok: true, value: 'next' });
    expect([session.history.length, facts.of('session.turn_ended').length, calls]).toEqual([history, told, 0]);
    expect(session.state).toBe('idle');
  });

  it('[I-3] scenario 42: a tool call of a turn is answered once, its late result is recorded', async () => {
    const { clock, session, tool, facts } = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
    const answer = deferred<string>();
    tool('kb', () => answer.promise, {
      policy: { limits: { idleMs: Infinity, attemptMs: Infinity, overallMs: Infinity } },
    });
    void session.send({ kind: 'user' });
    await clock.advance(300_000);
    answer.resolve('too late');
    await clock.advance(1000);
    const results = session.history.filter(({ type }) => type === 'tool_result');
    expect(results).toMatchObject([{ result: { status: 'error', synthetic: true } }]);
    expect(facts.of('call.late')).toMatchObject([{ ok: true }]);
  });

  it('[M-6] [I-3] scenario 42: an attempt of an incarnation that crashed is told as late, and closes or opens nothing', async () => {
    const { clock, integration, path, attempt, facts } = startIntegration({ breaker: { consecutiveFailures: 1 } });
    const calls = [integration.call('one', { maxAttempts: 1 }), integration.call('two', { maxAttempts: 1 })];
    path.crashed({ kind: 'crash', reason: 'connection_lost', message: 'gone', outcome: 'unknown' });
    path.restarted();
    attempt(0).resolve('too late');
    attempt(1).reject(new Error('too late'));
    await clock.settle();
    expect(await Promise.all(calls)).toMatchObject(Array(2).fill({ ok: false, failure: { kind: 'crash' } }));
    expect(facts.of('call.late')).toMatchObject([{ ok: true }, { ok: false }]);
    expect([facts.of('breaker.opened'), integration.state]).toEqual([[], 'idle']);
  });
});
