import { describe, expect, it } from 'vitest';
import { attentionText, mattersOf, type Watched } from '../../src/cli/attention.ts';
import { recordedText, stuckText } from '../../src/cli/stuckSessions.ts';
import { createStyle } from '../../src/cli/style.ts';

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
    [{ turn: undefined, next: undefined }, undefined],
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
const view = (circuit: string, live = true) =>
  ({
    ...{ integration: 'kb', circuit, failures10m: 1, failures24h: 1, crashes10m: 2, crashes24h: 2, runtimes: [] },
    live: live ? [{ circuit, runtime: 'r', pid: 1, state: 'idle', inFlight: 0, waiting: 0 }] : [],
  }) as never;
const letter = (reason: string, session = 's') =>
  ({ id: `${session}-m1`, session, kind: 'user', reason, deliveries: 3, postedAt: 0, canSend: true }) as const;

describe('what needs attention', () => {
  it.each([
    [{ integrations: [view('open')] }, 'unwedge probe kb'],
    [{ integrations: [view('crashed')] }, 'unwedge restart kb'],
    [{ integrations: [view('isolated')] }, 'unwedge restart kb'],
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
    const unwatched = [{ integration: 'kb' }] as never;
    const matters = mattersOf(
      { ...nothing, letters, integrations: [view('closed')], alerts: { open: [], unwatched } },
      0,
      undefined,
    );
    expect(matters.map(({ what }) => what)).toEqual([
      'kb failed 1 time and crashed 2 times in 10 minutes',
      '3 dead letters of 2 sessions (2 poison, 1 expired)',
    ]);
  });

  it('[L-6] is nothing where all is well', () => {
    const style = createStyle({ isTTY: false, env: {} });
    expect(attentionText(mattersOf(nothing, 0, undefined), { width: 80, style })).toBe('');
  });
});
