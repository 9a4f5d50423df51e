import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/policy/failures/classify.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';

const wallNow = Date.UTC(2026, 10, 21, 12);
const coded = (message: string, more: object = {}) => Object.assign(new Error(message), more);

/** The facts of an error when it is met first, and when another one that says the same is. */
function twice(make: () => unknown, context: object = {}) {
  const errors = [make(), make()] as const;
  return errors.map((error) => ({ error, facts: classify(error, { wallNow, ...context }) }));
}

describe('an error that says what another one said', () => {
  it.each([
    ['a word of the network', () => coded('connect ECONNREFUSED 127.0.0.1:9', { code: 'ECONNREFUSED', port: 9 })],
    ['a text alone', () => new Error('503 Service Unavailable')],
    ['a spawn that found too much', () => coded('spawn E2BIG', { code: 'E2BIG', syscall: 'spawn' })],
    ['a status', () => coded('no', { status: 403 })],
    ['a cause', () => new TypeError('fetch failed', { cause: coded('read ECONNRESET', { code: 'ECONNRESET' }) })],
    ['an aggregate', () => new AggregateError([coded('connect ETIMEDOUT', { code: 'ETIMEDOUT' })])],
    ['nothing', () => new Error('')],
  ])('[R-5] has the same facts, but for its own cause: %s', (_, make) => {
    const [first, second] = twice(make);
    expect({ ...second?.facts, cause: undefined }).toStrictEqual({ ...first?.facts, cause: undefined });
    expect(first?.facts.cause).toBe(first?.error);
    expect(second?.facts.cause).toBe(second?.error);
  });

  it('[R-5] keeps the facts that were given from what callers do to them', () => {
    const facts = classify(new Error('529 overloaded'), { wallNow });
    Object.assign(facts, { kind: 'permanent', message: 'mine' });
    expect(classify(new Error('529 overloaded'), { wallNow })).toMatchObject({ kind: 'overloaded' });
  });
});

/** Answers for `status` what the error itself does not have. */
function statusOf(status: number): ProxyHandler<Error> {
  return { get: (error, name) => (name === 'status' ? status : (Reflect.get(error, name) as unknown)) };
}

/** An error whose status is another one from the second time on that it is read. */
function changing(first: number, later: number): Error {
  let reads = 0;
  return Object.defineProperty(new Error('it failed'), 'status', { get: () => (reads++ === 0 ? first : later) });
}

describe('an error that differs from one that was met', () => {
  const known = { code: 'ECONNREFUSED' };

  it.each([
    ['in its code', coded('it failed', { code: 'EACCES' }), coded('it failed', known)],
    ['in the type of a field', coded('it failed', { code: '401' }), coded('it failed', { code: 40_1e3 })],
    ['in its class', Object.assign(new TypeError('it failed'), known), coded('it failed')],
    ['in its cause', new Error('it failed', { cause: coded('x', known) }), new Error('it failed')],
    ['by words that look like a field', coded('it failed|4:codestring12:ECONNREFUSED'), coded('it failed', known)],
  ])('[R-5] is looked at itself: %s', (_, one, other) => {
    const alone = classify(other, { wallNow });
    classify(one, { wallNow });
    expect(classify(other, { wallNow })).toStrictEqual(alone);
    expect(classify(one, { wallNow }).message).toContain(one.message);
  });

  it('[R-3] by the time at which it is met: a hint that is a moment ages', () => {
    const limited = () => new Error('429 Too Many Requests, try again at 2026-11-21 12:00:30 UTC');
    expect(classify(limited(), { wallNow }).retryAfterMs).toBe(30_000);
    expect(classify(limited(), { wallNow: wallNow + 10_000 }).retryAfterMs).toBe(20_000);
  });

  it('[M-13] by what it is judged by: the cap of pauses, the side it is of, patterns of one’s own', () => {
    const spent = () => new Error('quota exceeded, try later');
    const plain = classify(spent(), { wallNow });
    expect(classify(spent(), { wallNow, dispatched: false }).outcome).toBe('not_started');
    const patterns = [{ pattern: 'try later', kind: 'permanent' as const }];
    expect(classify(new Error('try later'), { wallNow, patterns }).kind).toBe('permanent');
    expect(classify(new Error('try later'), { wallNow }).kind).not.toBe('permanent');
    expect(classify(spent(), { wallNow })).toMatchObject({ kind: plain.kind, outcome: plain.outcome });
  });

  it('[R-5] by facts of its own', () => {
    const facts = { kind: 'timeout', message: 'late', outcome: 'unknown' } as const;
    classify(new Error('late'), { wallNow });
    expect(classify(new AttemptError(facts), { wallNow }).kind).toBe('timeout');
  });

  it('[R-5] where it is no error of the language, or throws when it is read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrower = Object.defineProperty(new Error('it failed'), 'code', {
      get() {
        throw new Error('unreadable');
      },
    });
    class Status extends Error {
      get status() {
        return 404;
      }
    }
    classify(new Error('gone'), { wallNow });
    expect(classify(new Status('gone'), { wallNow })).toMatchObject({ kind: 'permanent', reason: 'not_found' });
    for (const error of [proxy, thrower, thrower]) expect(classify(error, { wallNow }).outcome).toBe('unknown');
  });

  it.each([
    ['behind a proxy', (status: number) => new Proxy(new Error('it failed'), statusOf(status))],
    [
      'whose cause is behind one',
      (status: number) => new Error('it failed', { cause: new Proxy(new Error(''), statusOf(status)) }),
    ],
  ])('[R-5] where what it says is not what it was asked for: %s', (_, make) => {
    for (const kind of ['transient', 'auth', 'rate_limit']) {
      const status = { transient: 503, auth: 401, rate_limit: 429 }[kind] ?? 0;
      expect(classify(make(status), { wallNow }).kind).toBe(kind);
    }
    expect(classify(new Error('it failed'), { wallNow }).kind).toBe('unknown');
    expect(classify(new Error('it failed', { cause: new Error('') }), { wallNow }).kind).toBe('unknown');
  });

  it('[R-5] where a getter of it answers otherwise each time', () => {
    classify(changing(502, 401), { wallNow });
    expect(classify(coded('it failed', { status: 502 }), { wallNow }).kind).toBe('transient');
  });

  it('[R-5] after more errors than are remembered', () => {
    const refused = () => coded('connect ECONNREFUSED', known);
    const first = classify(refused(), { wallNow });
    for (let count = 0; count < 200; count++) classify(new Error(`error ${count}`), { wallNow });
    expect(classify(refused(), { wallNow }).kind).toBe(first.kind);
  });
});
