import { describe, expect, it } from 'vitest';
import type { ErrorBoundaryOptions } from '../../../proxy/boundary/boundaryOptions.ts';
import { withErrorBoundary } from '../../../proxy/boundary/errorBoundary.ts';
import { callsInFlight } from '../../../proxy/boundary/runningCall.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { RecordedFacts } from '../../support/facts.ts';

type Handler = (input: Record<string, unknown>, extra: Extra) => unknown;
interface Extra {
  readonly signal: AbortSignal;
  readonly sendNotification: (message: object) => Promise<void>;
  readonly sendRequest: (message: object) => Promise<unknown>;
}

/** A wrapped handler in simulated time, called with `{ q: 1 }` and the context of a request. */
function startBoundary(handler: Handler, options: ErrorBoundaryOptions = {}) {
  const clock = new SimulatedClock();
  const facts = new RecordedFacts();
  const client = new AbortController();
  const reply = deferred<unknown>();
  const sent: object[] = [];
  const bounded = withErrorBoundary(handler, { tool: 'search', clock, tell: (fact) => facts.tell(fact), ...options });
  const extra: Extra = {
    signal: client.signal,
    sendNotification: async (message) => void sent.push(message),
    sendRequest: () => reply.promise,
  };
  return { clock, facts, client, reply, sent, call: () => bounded({ q: 1 }, extra) };
}

const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const errorResult = (text: string) => ({ ...textResult(text), isError: true });
const never = (): Promise<never> => new Promise(() => undefined);

describe('a tool handler with an error boundary', () => {
  it('[P-2] answers as it would without', async () => {
    const { call, facts, clock } = startBoundary(({ q }) => textResult(`found ${String(q)}`));
    expect(await call()).toEqual(textResult('found 1'));
    expect(facts.all).toEqual([]);
    expect([clock.pending, callsInFlight()]).toEqual([0, []]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no index');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no index'))],
    [
      'gives a thenable that rejects',
      () => ({ then: (_: unknown, fail: (e: Error) => void) => fail(new Error('no index')) }),
    ],
  ])('[P-2] [I-1] that %s answers with an error that names the tool, and is recorded', async (_, handler) => {
    const { call, facts } = startBoundary(handler as Handler, { server: 'kb' });
    expect(await call()).toEqual(errorResult('Error in search: no index'));
    expect(facts.all).toEqual([
      {
        type: 'mcp.tool_failed',
        integration: 'kb',
        tool: 'search',
        input: { q: 1 },
        error: 'no index',
        stack: expect.stringContaining('errorBoundary.test') as string,
      },
    ]);
  });

  const hostile = {
    get message() {
      throw new Error('hostile');
    },
  };

  it.each([
    [() => undefined, 'The handler returned no result'],
    [() => 'text', 'The handler returned no result'],
    [() => Promise.reject('plain text'), 'plain text'],
    [() => Promise.reject(undefined), 'It threw undefined'],
    [() => Promise.reject({ message: '' }), 'It failed and did not say why'],
    [() => Promise.reject(hostile), 'It failed and did not say why'],
  ])('[P-2] that comes to nothing says so: %#', async (handler, message) => {
    const { call } = startBoundary(handler);
    expect(await call()).toEqual(errorResult(`Error in search: ${message}`));
  });

  it('[P-2] whose result cannot be looked at answers all the same', async () => {
    const { call } = startBoundary(() => ({
      get isError() {
        throw new Error('hostile');
      },
    }));
    expect(await call()).toEqual(errorResult('Error in search: Its result cannot be sent: hostile'));
  });

  it('[P-2] has its own errors passed on and recorded', async () => {
    const { call, facts } = startBoundary(() => errorResult('no such file'));
    expect(await call()).toEqual(errorResult('no such file'));
    expect(facts.of('mcp.tool_failed')).toMatchObject([{ error: 'no such file', stack: undefined }]);
  });

  it('[O-8] tells the client no secrets, and no more than 2,000 characters', async () => {
    process.env['PLANTED_API_KEY'] = 'planted-by-the-test';
    const text = `cannot reach postgres://me:hunter22@db with planted-by-the-test ${'x'.repeat(3000)}`;
    const { call } = startBoundary(() => Promise.reject(new Error(text)));
    const answer = JSON.stringify(await call());
    delete process.env['PLANTED_API_KEY'];
    expect(answer).toContain('cannot reach postgres://me:[redacted]@db with [redacted] xxx');
    expect(answer.length).toBeLessThan(2100);
  });

  it('[O-8] tells who listens no secrets of the input', async () => {
    const facts = new RecordedFacts();
    const bounded = withErrorBoundary(() => errorResult('no'), { tell: (fact) => facts.tell(fact) });
    await (bounded as (input: object) => Promise<unknown>)({ user: 'me', password: 'hunter22' });
    expect(facts.all).toMatchObject([{ input: { user: 'me', password: '[redacted]' } }]);
  });

  it('[O-8] tells no half of a secret that stands where a long message is cut', async () => {
    process.env['PLANTED_API_KEY'] = 'planted-by-the-test';
    const shrinking = `password="${'x'.repeat(100)}" `.repeat(35);
    const text = `${shrinking.padEnd(3989, 'so ')} planted-by-the-test`;
    const { call } = startBoundary(() => Promise.reject(new Error(text)));
    const answer = JSON.stringify(await call());
    delete process.env['PLANTED_API_KEY'];
    expect(answer).toContain('password=');
    expect(answer).not.toContain('planted');
  });

  it('[P-2] lets the client be sent to a page, which is no failure', async () => {
    const elicitation = Object.assign(new Error('sign in'), { code: -32_042 });
    const { call, facts } = startBoundary(() => Promise.reject(elicitation));
    await expect(call()).rejects.toBe(elicitation);
    expect(facts.all).toEqual([]);
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error('deaf');
      },
    ],
    // Its rejection would be reported as that of this test.
    ['rejects', (): Promise<never> => Promise.reject(new Error('deaf'))],
  ])('[I-4] answers though who is told of it %s', async (_, tell) => {
    const { call } = startBoundary(() => Promise.reject(new Error('no index')), { tell: tell as () => void });
    expect(await call()).toEqual(errorResult('Error in search: no index'));
  });
});

describe('a tool handler with a result that no SDK could send', () => {
  const circle: Record<string, unknown> = textResult('round');
  circle['structuredContent'] = { circle };

  it.each([
    ['a circle', circle, 'Converting circular structure to JSON'],
    ['a BigInt', { ...textResult('1'), structuredContent: { rows: 1n } }, 'Do not know how to serialize a BigInt'],
  ])('[P-2] [I-1] answers with an error that says so: %s', async (_, result, message) => {
    const { call, facts, clock } = startBoundary(() => result);
    const expected = `search: Its result cannot be sent: ${message}`;
    expect(await call()).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(expected) as string }],
    });
    expect(facts.of('mcp.tool_failed')).toHaveLength(1);
    expect([clock.pending, callsInFlight()]).toEqual([0, []]);
  });
});

describe('a tool handler that hangs', () => {
  it('[P-2] [I-1] is given up after 50 s without a sign of life', async () => {
    const { call, clock, facts } = startBoundary(never);
    const answer = call();
    await clock.advance(49_999);
    expect(await isSettled(answer)).toBe(false);
    await clock.advance(1);
    const message = 'The tool gave no sign of life for 50s and was given up; its outcome is unknown';
    expect(await answer).toEqual(errorResult(`Error in search: ${message}`));
    expect(facts.of('mcp.tool_failed')).toMatchObject([{ error: message }]);
    expect([clock.pending, callsInFlight()]).toEqual([0, []]);
  });

  it('[P-2] is given up after 280 s, whatever it reports', async () => {
    const { call, clock } = startBoundary(async (_, { sendNotification }) => {
      for (;;) {
        await sendNotification({ method: 'notifications/progress' });
        await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 40_000));
      }
    });
    const answer = call();
    await clock.advance(279_999);
    expect(await isSettled(answer)).toBe(false);
    await clock.advance(1);
    expect(await answer).toEqual(
      errorResult('Error in search: The tool did not end within 4m40s and was given up; its outcome is unknown'),
    );
  });

  it('[P-2] is not idle while it waits for the client', async () => {
    const { call, clock, reply } = startBoundary(async (_, { sendRequest }) => {
      await sendRequest({ method: 'elicitation/create' });
      return never();
    });
    const answer = call();
    await clock.advance(200_000);
    expect(await isSettled(answer)).toBe(false);
    reply.resolve({});
    await clock.settle();
    await clock.advance(49_999);
    expect(await isSettled(answer)).toBe(false);
    await clock.advance(1);
    expect(await isSettled(answer)).toBe(true);
  });

  it('[P-2] [R-8] has its signal aborted, with the reason', async () => {
    let signal: AbortSignal | undefined;
    const { call, clock } = startBoundary((_, extra) => {
      signal = extra.signal;
      return never();
    });
    void call();
    await clock.advance(49_999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.reason).toMatchObject({ message: expect.stringContaining('given up') as string });
  });

  it.each([
    ['answers', true, undefined],
    ['fails', false, 'too late'],
  ])('[P-2] [I-1] and then %s after all has that dropped and told', async (_, ok, error) => {
    const work = deferred<object>();
    const { call, clock, facts } = startBoundary(() => work.promise);
    const answer = call();
    await clock.advance(50_000);
    const first = await answer;
    await clock.advance(1000);
    if (ok) work.resolve(textResult('found'));
    else work.reject(new Error('too late'));
    await clock.settle();
    expect(await answer).toBe(first);
    expect(facts.of('call.late')).toMatchObject([
      { integration: 'mcp-server', label: 'search', ok, lateByMs: 1000, error },
    ]);
    expect(facts.of('mcp.tool_failed')).toHaveLength(1);
  });

  it('[P-2] [I-1] and goes on after it was given up tells and asks the client nothing more', async () => {
    const work = deferred<undefined>();
    let asked: unknown;
    const { call, clock, sent } = startBoundary(async (_, { signal, sendNotification, sendRequest }) => {
      await work.promise;
      await sendNotification({ method: 'notifications/progress' });
      asked = await sendRequest({ method: 'elicitation/create' }).catch((error: unknown) => error === signal.reason);
    });
    void call();
    await clock.advance(50_000);
    work.resolve(undefined);
    await clock.settle();
    expect([sent, asked]).toEqual([[], true]);
  });

  it('[G-6] is not given up when a sign of life was only held up by a blocked event loop', async () => {
    let alive = (): unknown => undefined;
    const { call, clock, client } = startBoundary((_, { sendNotification }) => {
      alive = () => sendNotification({ method: 'notifications/progress' });
      return never();
    });
    const answer = call();
    const nextTurn = clock.nextTurn.bind(clock);
    clock.nextTurn = (callback) => {
      alive();
      nextTurn(callback);
    };
    await clock.advance(50_000);
    expect(await isSettled(answer)).toBe(false);
    client.abort();
  });
});

describe('a tool call that the client gives up', () => {
  it('[P-2] [R-8] tells its handler, and is no failure', async () => {
    let reason: unknown;
    const { call, client, facts, clock } = startBoundary(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(new Error('aborted'));
          });
        }),
    );
    const answer = call();
    client.abort('not needed');
    await answer;
    await clock.settle();
    expect(reason).toBe('not needed');
    expect(facts.all).toEqual([]);
    expect([clock.pending, callsInFlight()]).toEqual([0, []]);
  });

  it('[R-8] before it begins is not begun', async () => {
    let begun = false;
    const { call, client, clock } = startBoundary(() => {
      begun = true;
      return textResult('found');
    });
    client.abort('not needed');
    await call();
    expect([begun, clock.pending, callsInFlight()]).toEqual([false, 0, []]);
  });
});

describe('what an error boundary knows of a handler', () => {
  const boom = (): never => {
    throw new Error('boom');
  };

  it('[P-2] names the tool of a request, and its input', async () => {
    const facts = new RecordedFacts();
    const bounded = withErrorBoundary(boom as (request: object) => never, { tell: (fact) => facts.tell(fact) });
    const request = { method: 'tools/call', params: { name: 'fetch', arguments: { url: 'x' } } };
    expect(await bounded(request)).toEqual(errorResult('Error in fetch: boom'));
    expect(facts.all).toMatchObject([{ tool: 'fetch', input: { url: 'x' } }]);
  });

  it('[P-2] reads no other name into the input of a tool it knows', async () => {
    const facts = new RecordedFacts();
    const bounded = withErrorBoundary(boom as (input: object) => never, {
      tool: 'forward',
      tell: (fact) => facts.tell(fact),
    });
    const input = { method: 'tools/call', params: { name: 'fetch', arguments: {} } };
    expect(await bounded(input)).toEqual(errorResult('Error in forward: boom'));
    expect(facts.all).toMatchObject([{ tool: 'forward', input }]);
  });

  it('[P-2] names the handler where nobody names the tool', async () => {
    expect(await withErrorBoundary(boom)()).toEqual(errorResult('Error in boom: boom'));
    expect(await withErrorBoundary(() => boom())()).toEqual(errorResult('Error in tool: boom'));
  });

  it('[P-2] passes the context of the SDK for the stateless protocol on, with a signal of its own', async () => {
    const clock = new SimulatedClock();
    let seen: { mcpReq: { id: number; signal: AbortSignal }; sessionId: string } | undefined;
    const bounded = withErrorBoundary(
      (ctx: { mcpReq: { id: number; signal: AbortSignal }; sessionId: string }) => {
        seen = ctx;
        return never();
      },
      { clock },
    );
    void bounded({ mcpReq: { id: 7, signal: new AbortController().signal }, sessionId: 's' });
    await clock.advance(50_000);
    expect(seen).toMatchObject({ mcpReq: { id: 7 }, sessionId: 's' });
    expect(seen?.mcpReq.signal.aborted).toBe(true);
  });

  it.each([
    [{ idleMs: 0 }, RangeError, 'Expected `idleMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ overallMs: '5 m' }, RangeError, 'Expected `overallMs`'],
    [{ tool: '' }, RangeError, 'Expected `tool`'],
    [{ tell: 7 }, TypeError, 'Expected `tell` to be a function, got 7'],
    [{ timeoutMs: 5 }, RangeError, 'Unknown option `timeoutMs`; did you mean overallMs?'],
  ])('is checked at once: %j', (options, type, message) => {
    expect(() => withErrorBoundary(boom, options as never)).toThrow(type);
    expect(() => withErrorBoundary(boom, options as never)).toThrow(message);
    expect(() => withErrorBoundary(7 as never)).toThrow('Expected `handler` to be a function, got 7');
  });
});
