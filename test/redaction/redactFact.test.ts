import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createFactRedactor, createRedactedLogger } from '../../src/redaction/redactFact.ts';

const key = `sk-ant-${'x1'.repeat(20)}`;
const redact = createFactRedactor(new KnownSecrets({ TOKEN: 'environment-secret' }));

describe('a fact without secrets', () => {
  it('[O-8] is the same object, whatever it holds', () => {
    const fact = {
      type: 'call.failed',
      failure: { kind: 'timeout', cause: new TypeError('x', { cause: new Error('y') }), at: new Date(0), n: Infinity },
      list: [1, 'two', null, undefined, { deep: [true] }],
      tokens: 12,
      credentials: undefined,
    };
    expect(redact(fact)).toBe(fact);
  });
});

describe('a fact with a time in ms', () => {
  it('[O-1] has it as a whole number, at any depth, and other numbers as they are', () => {
    const fact = {
      elapsedMs: 943.5769359999977,
      failure: { retryAfterMs: 0.5, ratio: 0.5 },
      items: [{ durationMs: 2.4 }],
      costUsd: 0.25,
    };
    expect(redact(fact)).toEqual({
      elapsedMs: 944,
      failure: { retryAfterMs: 1, ratio: 0.5 },
      items: [{ durationMs: 2 }],
      costUsd: 0.25,
    });
    expect(fact.elapsedMs).toBe(943.5769359999977);
  });
});

describe('a fact with secrets', () => {
  it('[O-8] loses them by shape, by name and as values of the environment, and keeps its form', () => {
    const fact = {
      error: `with ${key}`,
      n: Infinity,
      list: ['environment-secret!', 3],
      input: { apiKey: key, password: 5, hasToken: true, token: null, prompt: 'in confidence', env: { A: 'b', c: 1 } },
    };
    expect(redact(fact)).toEqual({
      error: 'with [redacted]',
      n: Infinity,
      list: ['[redacted]!', 3],
      input: {
        apiKey: '[redacted]',
        password: '[redacted]',
        hasToken: true,
        token: null,
        prompt: '[redacted]',
        env: { A: '[redacted]', c: '[redacted]' },
      },
    });
  });

  it('[O-8] loses them in names too', () => {
    expect(redact({ [key]: 1 })).toEqual({ '[redacted]': 1 });
  });

  it('[O-8] loses them in the errors of an AggregateError, and in what else of an error is not enumerable', () => {
    const errors = [new Error(`with ${key}`), Object.assign(new Error('no'), { apiKey: 'short' })];
    const error = Object.defineProperty(new AggregateError(errors, 'all failed'), 'request', {
      value: { password: 'p' },
    });
    const clean = redact({ error }).error as AggregateError & { request: unknown };
    expect(clean.errors).toMatchObject([{ message: 'with [redacted]' }, { message: 'no', apiKey: '[redacted]' }]);
    expect([clean.message, clean.request, Object.keys(clean)]).toEqual(['all failed', { password: '[redacted]' }, []]);
  });

  it('[O-8] keeps errors errors, and loses what they carry beside their message', () => {
    const error = Object.assign(new TypeError(`bad ${key}`, { cause: new Error(key) }), {
      code: 'X',
      headers: { cookie: 'a' },
    });
    const clean = redact({ error }).error as typeof error;
    expect(clean).toBeInstanceOf(Error);
    expect([clean.name, clean.message, (clean.cause as Error).message]).toEqual([
      'TypeError',
      'bad [redacted]',
      '[redacted]',
    ]);
    expect([clean.code, clean.headers]).toEqual(['X', { cookie: '[redacted]' }]);
    expect(clean.stack).toContain('TypeError: bad [redacted]');
    expect(Object.keys(clean)).toEqual(['code', 'headers']);
    expect(error.message).toBe(`bad ${key}`);
  });

  it('[O-8] makes other objects plain, and leaves out what cannot be read', () => {
    class Response {
      readonly status = 401;
      readonly #headers = key;
      get headers(): string {
        return this.#headers;
      }
    }
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error(key);
        },
      },
    );
    const getter = {
      get boom(): string {
        throw new Error(key);
      },
    };
    const clean = redact({
      response: new Response(),
      bytes: new Uint8Array(3),
      map: new Map([[key, key]]),
      set: new Set([key]),
      f: () => key,
      proxy,
      getter,
    });
    expect(clean).toEqual({
      response: { status: 401 },
      bytes: '[3 bytes]',
      map: '[1 entries]',
      set: '[1 entries]',
      f: '[function]',
      proxy: '[left out]',
      getter: { boom: '[unreadable]' },
    });
    expect(Object.getPrototypeOf(clean.response)).toBe(Object.prototype);
  });

  it('[O-8] is bounded: circles, depth, many objects and long texts end', () => {
    const circle: Record<string, unknown> = { key };
    circle['self'] = circle;
    expect(JSON.stringify(redact(circle))).not.toContain(key);
    const many = { list: Array.from({ length: 5_000 }, () => ({ a: key })) };
    expect(redact(many).list.filter((item) => (item as unknown) === '[left out]').length).toBe(4_002);
    expect(createFactRedactor(undefined, { objects: Infinity })(many).list.at(-1)).toEqual({ a: '[redacted]' });
    const text = redact({ text: 'x '.repeat(50_000) }).text;
    expect([text.length, text.at(-1)]).toEqual([20_001, '…']);
    expect(redact({ text: `${'x '.repeat(9_990)}${key}${' y'.repeat(9_000)}` }).text).not.toContain('sk-ant');
  });
});

describe('a logger', () => {
  it('[O-8] gets lines and fields without secrets', () => {
    const heard: unknown[] = [];
    const line = (...given: unknown[]): void => void heard.push(given);
    const logger = createRedactedLogger({ debug: line, info: line, warn: line, error: line }, redact);
    logger.warn(`with ${key}`);
    logger.error('failed', { error: new Error(key), apiKey: 'x' });
    expect(heard[0]).toEqual(['with [redacted]']);
    expect(heard[1]).toMatchObject(['failed', { error: { message: '[redacted]' }, apiKey: '[redacted]' }]);
  });
});

it.each([
  'token=abcdef123456',
  'environment-secret',
  'https://me:hunter22x@kb.test/x',
  `kb?key=${key}&x=1`,
  'Authorization: Bearer abcdef1234567',
  'password: "hunter2222"',
  `${'x '.repeat(9_990)}${key} ${'y '.repeat(5_000)}`,
])('[O-8] a fact that was masked is the same when it is masked again: %.60s', (text) => {
  const once = redact({ integration: text, text, argv: ['--token', text], error: new Error(text) });
  expect(once.text).not.toBe(text);
  expect(redact(once)).toBe(once);
});
