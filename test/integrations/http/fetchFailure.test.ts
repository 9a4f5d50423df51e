import { describe, expect, it } from 'vitest';
import { classify, fetchFailure, HttpError, okOrThrow } from '../../../src/index.ts';
import { failureOf } from '../../../src/integrations/http/fetchFailure.ts';
import { redactorOf } from '../../../src/redaction/requestSecrets.ts';
import { SimulatedClock } from '../../../testing/index.ts';

const wallNow = Date.UTC(2026, 10, 21, 12);
const failed = (body: unknown, init: ResponseInit): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), init);
const factsOf = async (response: Response) => classify(await fetchFailure(response), { wallNow });

/** A body that says what it is given and then nothing more; `cancelled` when it was given up. */
function hanging(...chunks: string[]): { readonly body: ReadableStream; readonly state: { cancelled: boolean } } {
  const state = { cancelled: false };
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { body, state };
}

describe('fetchFailure', () => {
  it('[R-14] says status, reason and the message of the body', async () => {
    const error = await fetchFailure(
      failed(
        { error: { type: 'not_found_error', message: 'no such model' } },
        { status: 404, statusText: 'Not Found' },
      ),
    );
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ message: 'HTTP 404 Not Found: no such model', status: 404 });
    expect(error.body).toEqual({ error: { type: 'not_found_error', message: 'no such model' } });
  });

  it.each([
    [{ error: 'nope' }, 'nope'],
    [{ message: 'nope' }, 'nope'],
    [{ detail: 'nope' }, 'nope'],
    [{ error_description: 'nope', error: { code: 1 } }, 'nope'],
    [{ errors: [{ message: 'nope' }] }, 'nope'],
    ['nope\n at all', 'nope at all'],
    ['<!doctype html><style>a{}</style><h1>Bad   gateway</h1>', 'Bad gateway'],
  ])('[R-14] finds what a body says for people: %j', async (body, said) => {
    expect((await fetchFailure(failed(body, { status: 400 }))).message).toBe(`HTTP 400: ${said}`);
  });

  it.each([
    [429, { error: { type: 'rate_limit_error' } }, 'rate_limit'],
    [429, { error: { type: 'insufficient_quota', code: 'insufficient_quota' } }, 'quota'],
    [503, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded'],
    [401, { error: { type: 'authentication_error' } }, 'auth'],
    [400, { error: { code: 'context_length_exceeded' } }, 'permanent'],
    [400, { error: { message: 'Your credit balance is too low' } }, 'quota'],
    [500, 'it broke', 'transient'],
    [304, '', 'permanent'],
  ])('[R-14] is classified by status and body: %d %j is %s', async (status, body, kind) => {
    const response = status === 304 ? new Response(null, { status }) : failed(body, { status });
    expect(await factsOf(response)).toMatchObject({ kind, status });
  });

  it('[R-3] keeps the hints of its headers', async () => {
    const headers = { 'retry-after': '7', 'x-should-retry': 'true', 'x-other': 'left out', 'request-id': 'r-1' };
    const error = await fetchFailure(failed('', { status: 429, headers }));
    expect(error.headers).toEqual({ 'retry-after': '7', 'x-should-retry': 'true', 'request-id': 'r-1' });
    expect(classify(error, { wallNow })).toMatchObject({ retryAfterMs: 7000, shouldRetry: true });
  });

  it('[M-13] leaves it to the policy from where on a hint is a quota', async () => {
    const error = await fetchFailure(failed('', { status: 429, headers: { 'retry-after': '90' } }));
    expect(classify(error, { wallNow }).kind).toBe('quota');
    expect(classify(error, { wallNow, maxPauseMs: 120_000 }).kind).toBe('rate_limit');
  });

  it('[R-14] keeps 4,096 bytes of a body and cancels the rest', async () => {
    const { body, state } = hanging('x'.repeat(5000));
    const error = await fetchFailure(new Response(body, { status: 500 }));
    expect(error.body).toBe('x'.repeat(4096));
    expect(state.cancelled).toBe(true);
  });

  it('[R-14] does not cut a character in two', async () => {
    const error = await fetchFailure(failed('aä', { status: 500 }), { maxBodyBytes: 2 });
    expect(error.body).toBe('a');
  });

  it('[R-14] waits a second for a body that hangs, and keeps what came and the hints', async () => {
    const clock = new SimulatedClock();
    const { body, state } = hanging('overlo');
    const response = new Response(body, { status: 429, headers: { 'retry-after': '3' } });
    let error: HttpError | undefined;
    void failureOf(response, { maxBodyBytes: 4096, bodyMs: 1000, clock, redact: redactorOf('') }).then((made) => {
      error = made;
    });
    await clock.advance(999);
    expect(error).toBeUndefined();
    await clock.advance(1);
    expect(error).toMatchObject({ body: 'overlo', headers: { 'retry-after': '3' } });
    expect(state.cancelled).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('[R-14] ends with the signal of the attempt', async () => {
    const { body, state } = hanging('overlo');
    const attempt = new AbortController();
    const error = fetchFailure(new Response(body, { status: 503 }), { signal: attempt.signal });
    attempt.abort();
    expect(await error).toMatchObject({ status: 503 });
    expect(state.cancelled).toBe(true);
  });

  it('[R-14] keeps the hints of an answer whose body breaks or was read before', async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error('cut')),
    });
    const headers = { 'retry-after': '3' };
    const read = new Response('gone', { status: 429, headers });
    await read.text();
    for (const response of [new Response(broken, { status: 429, headers }), read]) {
      const error = await fetchFailure(response);
      expect(error).toMatchObject({ message: 'HTTP 429', body: '', headers });
    }
  });

  it('[O-8] holds no secret of the body or of the address', async () => {
    const key = `sk-ant-api03-${'aB3_'.repeat(12)}`;
    const response = failed(
      { error: { message: `bad key ${key}`, api_key: 'hunter2hunter2', seen: 'qqqq-wwww-1' } },
      { status: 401 },
    );
    Object.defineProperty(response, 'url', { value: 'https://x.example/a?key=qqqq-wwww-1' });
    const error = await fetchFailure(response);
    expect(error.message).toBe('HTTP 401: bad key [redacted]');
    expect(error.body).toEqual({ error: { message: 'bad key [redacted]', api_key: '[redacted]', seen: '[redacted]' } });
  });

  it('[R-17] says at once what is wrong with its options', () => {
    const response = new Response('', { status: 500 });
    // @ts-expect-error wrong on purpose
    expect(() => fetchFailure('nothing')).toThrow(new TypeError('Expected `response` to be a Response, got "nothing"'));
    expect(() => fetchFailure(response, { maxBodyBytes: -1 })).toThrow(RangeError);
    // @ts-expect-error wrong on purpose
    expect(() => fetchFailure(response, { bodyMS: 5 })).toThrow(/Unknown option `options.bodyMS`; did you mean bodyMs/);
  });
});

describe('okOrThrow', () => {
  it('[R-14] gives an answer that is ok as it is, its body unread', async () => {
    const response = new Response('fine');
    expect(await okOrThrow(response)).toBe(response);
    expect(await response.text()).toBe('fine');
  });

  it('[R-14] throws what another says', async () => {
    await expect(okOrThrow(failed('busy', { status: 503 }))).rejects.toMatchObject({
      status: 503,
      message: 'HTTP 503: busy',
    });
  });
});
