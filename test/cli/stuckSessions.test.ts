import { describe, expect, it } from 'vitest';
import { attentionText, mattersOf, type Watched } from '../../cli/attention.ts';
import { recordedText, stuckAmong, stuckText } from '../../cli/stuckSessions.ts';
import { askSessions } from '../../operator/askRuntimes.ts';
import { startControl } from '../control/startControl.ts';
import { createStyle } from '../../cli/text.ts';

const turn = { turn: 1, message: 's-m1', kind: 'user', delivery: 1, sinceMs: 5000 };
const next = { id: 'x', rule: 'idle_timeout', inMs: 10_500, what: 'charge' };
const call = (progress: object | undefined) => ({
  call: 'c',
  integration: 'bank',
  tool: 'charge',
  sinceMs: 20_900,
  progress,
});
const why = (more: object) =>
  ({
    session: 's',
    state: 'processing',
    waiting: 0,
    heldElsewhere: false,
    questions: [],
    calls: [],
    rules: [],
    turn,
    next,
    ...more,
  }) as never;

describe('the sessions of a live runtime', () => {
  const status = (count: number) => ({
    integrations: [],
    sessions: Array.from({ length: count }, (_, index) => ({ session: `s${index}`, state: 'processing', waiting: 0 })),
  });
  const asked = (socket: string, count: number) =>
    [{ runtime: { id: 'r', pid: 1, socket }, answer: status(count), problem: undefined }] as never;

  it('[L-6] are all told, more than it has places for clients', async () => {
    const long = { ...turn, sinceMs: 60_000 };
    const { path } = await startControl({
      methods: { why: (params) => ({ ...(why({ turn: long }) as object), ...(params as object) }) },
    });
    const stuck = stuckAmong(await askSessions(asked(path, 60)));
    expect(stuck.map(({ session }) => session)).toEqual(status(60).sessions.map(({ session }) => session));
  });

  it('[L-6] are told also where no answer comes', async () => {
    const { path } = await startControl({ methods: {} });
    const [first, ...more] = stuckAmong(await askSessions(asked(path, 2)));
    expect(first?.what).toMatch(/^is busy; its gateway does not say with what: Unknown method/);
    expect(more).toHaveLength(1);
  });
});

describe('a session that is stuck', () => {
  it.each([
    [{ calls: [call({ phase: 'in_flight', attempt: 1, maxAttempts: 3, silentMs: 9999 })] }, undefined],
    [
      { calls: [call({ phase: 'in_flight', attempt: 1, maxAttempts: 3, silentMs: 10_000 })] },
      'waits for bank charge for 20s (in flight, silent for 10s); idle_timeout ends the attempt of charge in 10s',
    ],
    [
      {
        calls: [
          call({
            phase: 'backoff',
            attempt: 1,
            maxAttempts: 3,
            lastFailure: { kind: 'transient', message: 'HTTP 503' },
          }),
          call({ phase: 'permit', attempt: 0, maxAttempts: 3 }),
        ],
      },
      'waits for bank charge and 1 more for 20s (waits for its next attempt, after transient: HTTP 503); idle_timeout ends the attempt of charge in 10s',
    ],
    [
      { questions: [{ question: 'q', what: 'delete?', sinceMs: 61_000, deadlineInMs: 29_900 }] },
      'asks a person for 1m1s: delete?; given up in 29s',
    ],
    [{ turn: { ...turn, sinceMs: 59_999 } }, undefined],
    [
      { turn: { ...turn, sinceMs: 60_000 }, next: { ...next, rule: 'turn', what: 'turn 1' } },
      'is at work for 1m without a call; the watchdog ends turn 1 in 10s',
    ],
    [
      {
        turn: { ...turn, sinceMs: 60_000 },
        ended: [{ integration: 'bank', tool: 'charge', ok: false, failure: { kind: 'circuit_open', message: 'open' } }],
      },
      'is at work for 1m without a call, after the circuit of bank refused charge; idle_timeout ends the attempt of charge in 10s',
    ],
    [{ turn: { ...turn, sinceMs: 29_999 }, waiting: 2 }, undefined],
    [
      { turn: { ...turn, sinceMs: 30_000 }, waiting: 2 },
      'is at work for 30s without a call, while 2 messages wait; idle_timeout ends the attempt of charge in 10s',
    ],
    [
      { turn: { ...turn, sinceMs: 60_000 }, stopping: { inMs: 5000 } },
      'is at work for 1m without a call; the gateway stops, and cuts it in 5s',
    ],
    [{ turn: undefined, next: undefined }, undefined],
    [
      { spinning: { message: 'bank charge was called 6 times', next: { step: 'end', more: 14 } } },
      'spins: bank charge was called 6 times; end after 14 more; idle_timeout ends the attempt of charge in 10s',
    ],
    [{ spinning: { message: 'was called 30 times' }, next: undefined }, 'spins: was called 30 times'],
    [
      { calls: [{ ...call(undefined), waitsFor: 'waits for its budget of 2 rounds of the day' }], next: undefined },
      'waits for its budget of 2 rounds of the day',
    ],
  ])('[L-6] says on what, for how long and what ends it: %#', (more, expected) => {
    expect(stuckText(why(more))).toBe(expected);
  });

  it('[L-6] on record says what waits', () => {
    const message = (state: 'taken' | 'waiting') => ({ id: 'm', kind: 'user', state, deliveries: 1, postedAt: 0 });
    const calls = [{ call: 'c', integration: 'bank', tool: 'charge', startedAt: 0, deadlineAt: 1 }];
    const messages = [message('taken'), message('waiting'), message('waiting')];
    expect(recordedText({ session: 's', calls, messages, deadLetters: [] }, 61_500)).toBe(
      'has on record 1 call without a result (bank charge, for 1m1s), 1 message begun, 2 messages waiting',
    );
  });
});

const nothing: Watched = {
  ...{ integrations: [], sessions: [], stuck: [], letters: [], runtimes: [] },
  alerts: { open: [], unwatched: [] },
};
const view = (circuit: string, live = true, probeInMs = 5000, crashes = 2) =>
  ({
    ...{ integration: 'kb', circuit, failures10m: 1, failures24h: 1, runtimes: [] },
    ...{ crashes10m: crashes, crashes24h: crashes },
    live: live ? [{ circuit, runtime: 'r', pid: 1, state: 'idle', inFlight: 0, waiting: 0, probeInMs }] : [],
  }) as never;
const letter = (reason: string, session = 's') =>
  ({
    id: `${session}-m1`,
    session,
    kind: 'user',
    reason,
    deliveries: 3,
    postedAt: 0,
    again: [],
    canSend: true,
  }) as const;

describe('what needs attention', () => {
  it.each([
    [{ integrations: [view('open')] }, 'unwedge probe kb'],
    [{ integrations: [view('open', true, 0)] }, 'unwedge events --integration kb --failed'],
    [{ integrations: [view('crashed')] }, 'unwedge events --integration kb --failed'],
    [{ integrations: [view('crashed', true, 5000, 1)] }, 'unwedge restart kb'],
    [{ integrations: [view('isolated')] }, 'unwedge events --integration kb'],
    [{ integrations: [view('open', false)] }, 'unwedge events --integration kb --failed'],
    [{ stuck: [{ session: "it's", what: 'waits' }] }, String.raw`unwedge why 'it'\''s'`],
    [{ letters: [letter('poison')] }, 'unwedge letters'],
  ])('[L-6] names the command to type: %#', (found, next) => {
    const matters = mattersOf({ ...nothing, ...found }, 0, undefined);
    expect(matters.map((each) => each.next)).toEqual([next]);
    expect(mattersOf({ ...nothing, ...found }, 0, 'a b.sqlite')[0]?.next).toBe(`${next} --db 'a b.sqlite'`);
  });

  it('[L-6] counts dead letters by their reason, and times in the right number', () => {
    const letters = [letter('poison'), letter('poison', 't'), letter('expired')];
    const unwatched = [{ integration: 'kb', kind: 'timeout', message: 'no answer' }] as never;
    const matters = mattersOf(
      { ...nothing, letters, integrations: [view('closed')], alerts: { open: [], unwatched } },
      0,
      undefined,
    );
    expect(matters.map(({ what }) => what)).toEqual([
      'kb failed 1 time and crashed 2 times in 10 minutes: timeout: no answer',
      '3 dead letters of 2 sessions (2 poison, 1 expired)',
    ]);
  });

  const run = (liveness: string, more = {}) =>
    ({
      runtime: { id: 'r', pid: 1, name: 'gateway.mjs', liveness, renewedAt: 8000, startedAt: 0 },
      answer: undefined,
      problem: 'its process is gone',
      ...more,
    }) as never;

  it('[L-6] begins with a gateway that is gone: since when, and what waits for it', () => {
    const records = [{ calls: [{}], messages: [{}, {}] }] as never;
    const found = { ...nothing, integrations: [view('open', false)], records };
    const [first, second] = mattersOf({ ...found, runtimes: [run('dead')] }, 20_000, undefined);
    expect(first).toEqual({
      what: 'gateway.mjs (pid 1) is gone: its process ended without a word; last sign of life on record 12s ago; on record wait 2 messages and 1 call without a result',
      next: 'start the gateway: it takes up what is left',
    });
    expect(second?.what).toContain('kb is not called');
    const what = (more: object): string | undefined => {
      const { runtime } = run('dead') as { runtime: object };
      const runtimes = [run('dead', { runtime: { ...runtime, ...more } })];
      return mattersOf({ ...nothing, runtimes }, 20_000, undefined)[0]?.what;
    };
    expect(what({ lastSignAt: 19_000 })).toContain('without a word; last sign of life on record 1s ago');
    expect(what({ renewedAt: 1000 })).toContain('without a word; last sign of life on record 19s ago');
    expect(what({ renewedAt: 999 })).toContain('without a word; started 20s ago, no sign of life is on record since');
    const successor = run('alive', { answer: {}, problem: undefined });
    expect(mattersOf({ ...nothing, runtimes: [run('dead'), successor] }, 0, undefined)).toEqual([]);
  });

  const crashed = (comeback: object | undefined, crashes10m = 5) =>
    ({
      ...(view('crashed') as object),
      crashes10m,
      lastError: { at: 0, kind: 'crash', error: 'The server exited with code 3' },
      live: [{ circuit: 'crashed', runtime: 'r', pid: 1, state: 'crashed', inFlight: 0, waiting: 0, comeback }],
    }) as never;

  it.each([
    [crashed({ ordered: true }), 'kb is being restarted (by an operator)', 'unwedge status --watch'],
    [
      crashed({ inMs: 1800 }),
      'kb crashed 5 times in 10 minutes; starts again by itself in 1.8s: crash: The server exited with code 3',
      'unwedge events --integration kb --failed',
    ],
    [crashed({}, 1), 'kb has crashed: crash: The server exited with code 3', 'unwedge restart kb'],
  ])('[L-6] [M-3] says of a server that is gone how it comes back: %#', (integration, what, next) => {
    expect(mattersOf({ ...nothing, integrations: [integration] }, 0, undefined)).toEqual([{ what, next }]);
  });

  it('[L-6] tells the worst of each sort first where there are more than fit', () => {
    const open = Array.from({ length: 250 }, () => view('open'));
    const stuck = [1, 2].map((each) => ({ session: `s${each}`, what: 'waits' }));
    const found = { ...nothing, integrations: open, stuck, letters: [letter('poison')] };
    const matters = mattersOf(found, 0, undefined);
    expect(matters).toHaveLength(253);
    expect(matters.slice(0, 4).map(({ next }) => next)).toEqual([
      'unwedge probe kb',
      'unwedge why s1',
      'unwedge letters',
      'unwedge probe kb',
    ]);
  });

  it('[L-6] is nothing where all is well', () => {
    const style = createStyle({ isTTY: false, env: {} });
    expect(attentionText(mattersOf(nothing, 0, undefined), { width: 80, style })).toBe('');
  });
});
