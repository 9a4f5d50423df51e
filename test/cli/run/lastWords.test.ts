import { describe, expect, it } from 'vitest';
import { lastWords, openedItself, spinningLines } from '../../../cli/run/lastWords.ts';
import { planRun } from '../../../cli/run/request.ts';
import { stdinWords } from '../../../cli/run/runCommand.ts';
import type { Failure } from '../../../src/policy/failures/failure.ts';

const base = { integration: 'nightly', attempts: 2, retryable: true, outcome: 'failed' } as const;
const plan = planRun(
  {
    ...{ attempts: 3, timeout: 15_000, 'attempt-timeout': 6000, name: 'nightly' },
    json: false,
    stream: false,
  } as never,
  ['true'],
  { stdin: false, stdout: false },
);
/** A quarter to four in the afternoon, here. */
const now = new Date(2026, 0, 1, 15, 45).getTime();
const end = (failure: Failure, elapsedMs = 0) => ({
  ...({
    outcome: { ok: false, failure },
    notRepeated: undefined,
    left: undefined,
    attempts: failure.attempts,
    elapsedMs,
  } as const),
});

describe('the last words of a run', () => {
  it('[L-4] [O-9] name the failure of its own by which the circuit opened, and say that once', () => {
    const cause = { kind: 'overloaded', message: 'API Error: 529 Overloaded.', outcome: 'failed' } as const;
    const opened = end({ ...base, kind: 'circuit_open', message: 'It is open', retryAfterMs: 60_000, cause });
    expect(lastWords(plan, opened, now)).toEqual([
      'overloaded: API Error: 529 Overloaded; after attempt 2 of 3 nightly failed too often, it is not run before 15:46:00',
    ]);
    expect(openedItself(opened)).toBe(true);
    expect(openedItself(end({ ...base, attempts: 0, kind: 'circuit_open', message: 'It is open' }))).toBe(false);
  });

  it('[L-4] [G-15] alone tell of repetition that ended it', () => {
    const fact = {
      type: 'session.spinning',
      session: 's',
      tool: 'edit',
      form: 'failure',
      count: 20,
      answer: '',
    } as const;
    const lines = (['notice', 'tell', 'hold', 'end'] as const).map((step) =>
      spinningLines({ ...fact, step, message: 'edit was called \u001B[2Jtwice' }),
    );
    expect(lines.map(({ length }) => length)).toEqual([1, 1, 0, 0]);
    expect(lines[0]?.[0]).toBe('it spins: edit was called twice');
  });

  const timeout = { ...base, kind: 'timeout', reason: 'attempt_timeout', message: 'It took too long' } as const;

  it.each([
    [{ name: 'consecutive_failures', failures: 5, limit: 5 }, 'nightly failed 5 times in a row'],
    [{ name: 'failure_ratio', failures: 6, attempts: 9, limit: 0.5 }, 'nightly failed in 6 of its last 9 attempts'],
    [{ name: 'failed_probe' }, 'nightly failed again when it was tried'],
    [{ name: 'quota' }, 'nightly has no quota left'],
  ] as const)('[L-4] say without a word of circuits why it is not run, and from when on: %o', (rule, words) => {
    const refused = end({ ...base, attempts: 0, kind: 'circuit_open', message: 'It is open', retryAfterMs: 3_600_000 });
    const opened = { kind: 'transient', message: 'HTTP 503', rule, failures: [] } as const;
    expect(lastWords(plan, { ...refused, opened }, now)).toEqual([
      `${words} (last: HTTP 503), it is not run before 16:45; the command was not run`,
    ]);
    const late = new Date(2026, 0, 1, 23, 30).getTime();
    expect(lastWords(plan, { ...refused, opened }, late)[0]).toContain('it is not run before 2026-01-02 00:30;');
  });

  it('[L-4] say that no time was left for another attempt', () => {
    expect(lastWords(plan, end(timeout, 14_900), now)).toEqual([
      'timeout: It took too long; trying again may help',
      'not tried again: no time was left for attempt 3 of 3 within 15s',
    ]);
  });

  it('[L-4] say nothing of time where there was enough, no attempt left, or nothing to be won by one', () => {
    expect(lastWords(plan, end({ ...timeout, retryable: false, resumable: true }, 14_900), now)).toHaveLength(2);
    expect(lastWords(plan, end(timeout, 1000), now)).toHaveLength(1);
    expect(lastWords(plan, end({ ...timeout, attempts: 3 }, 14_900), now)).toHaveLength(1);
    expect(lastWords(plan, end({ ...timeout, retryable: false }, 14_900), now)).toHaveLength(1);
  });

  it('[A-2] name what an agent left in the background, and say that its session is not whole, also where it answered', () => {
    const left = { agent: 'claude', effects: 'none', sessionLost: true };
    const ended = { outcome: { ok: true, value: {} }, exit: { leftRunning: ['sleep', 'npm'] } };
    const lines = [
      'it left work in the background, which was ended with it: sleep, npm',
      'its session could not be kept whole, and may not be resumed as it was',
    ];
    expect(lastWords(plan, { ...end(timeout, 1000), ...ended, left } as never, now)).toEqual(lines);
    expect(lastWords(plan, { ...end(timeout, 1000), ...ended } as never, now)).toEqual([]);
    expect(lastWords(plan, { ...end(timeout, 1000), exit: ended.exit, left } as never, now)).toEqual([
      'timeout: It took too long; trying again may help',
      ...lines,
    ]);
  });

  it('[L-4] [R-12] say of an agent that may have acted that another run begins anew, and by what its session goes on', () => {
    const acted = (left: object) => ({
      ...end(timeout, 1000),
      left: { agent: 'claude', resumeWords: ['claude', '--resume'], effects: 'possible', ...left },
    });
    const anew = 'it may have changed something, and another run begins anew';
    const lines = (left: object) => lastWords(plan, acted(left) as never, now);
    expect(lines({ sessionId: 's-1' })).toEqual([
      'timeout: It took too long',
      `${anew}; go on with: claude --resume s-1, and have it check what its last call did`,
    ]);
    expect(lines({})).toEqual(['timeout: It took too long', anew]);
    expect(lines({ agent: 'codex', resumeWords: ['codex', 'exec', 'resume'], sessionId: 't 1' }).at(-1)).toBe(
      `${anew}; go on with: codex exec resume 't 1'`,
    );
    const empty = { ...timeout, kind: 'unknown', reason: 'empty_response', message: 'Nothing was said' } as const;
    const silent = { ...acted({}), ...end(empty), left: acted({}).left } as never;
    expect(lastWords(plan, silent, now)).toEqual(['unknown: Nothing was said', anew]);
    for (const effects of ['none', 'unknown'])
      expect(lines({ effects })).toEqual(['timeout: It took too long; trying again may help']);
    const busy = { ...timeout, kind: 'overloaded', reason: undefined, message: 'HTTP 529' } as const;
    const later = { ...acted({}), ...end(busy), left: acted({}).left } as never;
    expect(lastWords(plan, later, now)).toEqual(['overloaded: HTTP 529', anew]);
    expect(lastWords(plan, { ...acted({}), outcome: { ok: true, value: {} } } as never, now)).toEqual([]);
  });

  it('[L-4] name the operator who ended it, and say nothing of Ctrl-C', () => {
    const message = 'nightly was restarted by an operator';
    expect(lastWords(plan, end({ ...base, kind: 'cancelled', reason: 'restarted', message }), now)).toEqual([
      `cancelled: ${message}`,
    ]);
    expect(lastWords(plan, end({ ...base, kind: 'cancelled', message: 'Ended by Ctrl-C.' }), now)).toEqual([]);
  });
});

describe('what is said of a stdin that was not passed on', () => {
  const failed = end({ ...base, kind: 'unknown', message: 'Input must be provided' });
  const is =
    (what: 'fifo' | 'file' | 'device', size = 0) =>
    () => ({
      ...{ isFIFO: () => what === 'fifo', isFile: () => what === 'file', size },
    });

  it('[L-4] names --prompt-file where a pipe or a file was there and the command failed', () => {
    const line = 'stdin is not passed on with more than one attempt; --prompt-file - gives it to each of them';
    expect(stdinWords(plan, failed, is('fifo'))).toEqual([line]);
    expect(stdinWords(plan, failed, is('file', 1))).toEqual([line]);
  });

  it('[L-4] is nothing for /dev/null, an empty file, a closed stdin, a prompt of its own, one attempt, or a run that went well', () => {
    const closed = () => {
      throw new Error('EBADF');
    };
    expect([is('device'), is('file'), closed].flatMap((stdin) => stdinWords(plan, failed, stdin))).toEqual([]);
    expect(stdinWords({ ...plan, promptFile: '-' }, failed, is('fifo'))).toEqual([]);
    expect(stdinWords({ ...plan, inheritsStdin: true }, failed, is('fifo'))).toEqual([]);
    expect(stdinWords(plan, { attempts: 1, outcome: { ok: true, value: {} as never } }, is('fifo'))).toEqual([]);
  });
});
