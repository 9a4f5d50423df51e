import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { type ClassifyContext, classify } from '../../../src/policy/failures/classify.ts';
import {
  AttemptError,
  type Failure,
  type FailureFacts,
  failureKinds,
  IntegrationError,
} from '../../../src/policy/failures/failure.ts';

const wallNow = Date.UTC(2026, 10, 21, 12);
const facts = (error: unknown, context: Partial<ClassifyContext> = {}) => classify(error, { wallNow, ...context });
const kindOf = (error: unknown, context: Partial<ClassifyContext> = {}) => facts(error, context).kind;
const coded = (code: string | number, message = 'it failed', more: object = {}) =>
  Object.assign(new Error(message), { code }, more);

describe('an HTTP answer', () => {
  it.each([
    [302, 'permanent', 'failed'],
    [400, 'permanent', 'failed'],
    [401, 'auth', 'failed'],
    [402, 'quota', 'failed'],
    [403, 'auth', 'failed'],
    [404, 'permanent', 'failed'],
    [408, 'transient', 'failed'],
    [413, 'permanent', 'failed'],
    [422, 'permanent', 'failed'],
    [429, 'rate_limit', 'failed'],
    [500, 'transient', 'unknown'],
    [502, 'transient', 'unknown'],
    [503, 'transient', 'failed'],
    [504, 'transient', 'unknown'],
    [529, 'overloaded', 'failed'],
  ])('[R-5] %d is %s, its effect %s', (status, kind, outcome) => {
    expect(facts({ status })).toMatchObject({ kind, outcome, status });
  });

  it.each([{ statusCode: 503 }, { response: { status: 503 } }, { code: 503 }])('[R-5] is found in %j', (error) => {
    expect(facts(error)).toMatchObject({ kind: 'transient', status: 503 });
  });

  it('[R-5] is believed before its text', () => {
    expect(kindOf({ status: 500, message: 'rate limit exceeded' })).toBe('transient');
  });

  it('[R-5] 400 with an unpaired history says so', () => {
    const message = '`tool_use` ids were found without `tool_result` blocks';
    expect(facts({ status: 400, message })).toMatchObject({ kind: 'permanent', reason: 'history_unpaired' });
  });

  it('[R-5] 429 with an exhausted quota is quota before it is a rate limit', () => {
    expect(kindOf({ status: 429, error: { type: 'insufficient_quota' } })).toBe('quota');
    expect(kindOf({ status: 429, error: { details: { error_code: 'enforced_spend_limit_reached' } } })).toBe('quota');
    expect(kindOf({ status: 429, error: { type: 'rate_limit_error' } })).toBe('rate_limit');
  });

  it('[R-5] of status 200 with an error event is judged by its type', () => {
    expect(kindOf({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })).toBe('overloaded');
    expect(kindOf({ error: { error: { type: 'authentication_error' } } })).toBe('auth');
  });
});

describe('a hint of the other side', () => {
  it('[M-13] up to 60 s leaves a 429 a rate limit, a longer one makes it quota', () => {
    expect(facts({ status: 429, headers: { 'retry-after': '60' } })).toMatchObject({
      kind: 'rate_limit',
      retryAfterMs: 60_000,
    });
    expect(facts({ status: 429, headers: { 'retry-after': '60.001' } })).toMatchObject({
      kind: 'quota',
      retryAfterMs: 60_001,
    });
  });

  it('[M-13] is measured by the cap of the policy', () => {
    const error = { status: 429, headers: { 'retry-after': '5' } };
    expect(kindOf(error, { maxPauseMs: 5000 })).toBe('rate_limit');
    expect(kindOf(error, { maxPauseMs: 4999 })).toBe('quota');
  });

  it('[R-3] in headers comes before one in the text', () => {
    const error = { status: 429, message: 'try again in 9s', headers: new Headers({ 'retry-after': '2' }) };
    expect(facts(error).retryAfterMs).toBe(2000);
    expect(facts({ ...error, headers: {} }).retryAfterMs).toBe(9000);
  });

  it('[R-3] about retrying is handed on', () => {
    expect(facts({ status: 429, headers: { 'x-should-retry': 'false' } }).shouldRetry).toBe(false);
  });
});

const invalidEnd = 'Response does not match the HTTP/1.1 protocol (Invalid EOF state)';

describe('an error of the network', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])(
    '[R-5] %s never reached the other side',
    (code) => {
      expect(facts(coded(code))).toMatchObject({ kind: 'transient', outcome: 'not_started', code });
    },
  );

  it.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'])('[R-5] %s leaves the effect unknown', (code) => {
    expect(facts(coded(code))).toMatchObject({ kind: 'transient', outcome: 'unknown', code });
  });

  it.each([
    coded('ECONNRESET'),
    coded('ERR_STREAM_PREMATURE_CLOSE'),
    new TypeError('terminated', { cause: coded('UND_ERR_SOCKET', 'other side closed') }),
    coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'),
    coded('HPE_INVALID_EOF_STATE'),
    coded('Z_BUF_ERROR', 'unexpected end of file'),
    new TypeError('terminated', { cause: Object.assign(new Error(invalidEnd), { name: 'HTTPParserError' }) }),
    new Error(invalidEnd),
    new TypeError('terminated'),
    new Error('Premature close'),
    coded('ERR_HTTP2_STREAM_ERROR', 'Stream closed with error code NGHTTP2_CANCEL'),
    coded('ERR_HTTP2_STREAM_ERROR', 'Stream closed with error code NGHTTP2_INTERNAL_ERROR'),
    coded('ERR_HTTP2_STREAM_CANCEL', 'The pending stream has been canceled (caused by: )'),
    coded('ERR_HTTP2_SESSION_ERROR', 'Session closed with error code 2'),
    coded('UND_ERR_INFO', 'HTTP/2: stream half-closed (remote)'),
    new Error('socket hang up'),
    new Error('abnormal closure'),
    Object.assign(new Error('closed'), { closeCode: 1006 }),
  ])('[R-5] a connection that broke says so: %s', (error) => {
    expect(facts(error)).toMatchObject({ kind: 'transient', reason: 'connection_lost' });
  });

  it.each([
    [
      coded('ERR_HTTP2_STREAM_ERROR', 'Stream closed with error code NGHTTP2_REFUSED_STREAM'),
      'transient',
      'not_started',
    ],
    [new Error('Stream closed with error code NGHTTP2_REFUSED_STREAM'), 'transient', 'not_started'],
    [new Error('http2: stream error: stream ID 5; REFUSED_STREAM'), 'transient', 'not_started'],
    [
      coded('ERR_HTTP2_GOAWAY_SESSION', 'New streams cannot be created after receiving a GOAWAY'),
      'transient',
      'not_started',
    ],
    [
      coded('ERR_HTTP2_STREAM_ERROR', 'Stream closed with error code NGHTTP2_ENHANCE_YOUR_CALM'),
      'overloaded',
      'unknown',
    ],
    [coded('ERR_HTTP2_STREAM_ERROR', 'Stream closed with error code NGHTTP2_PROTOCOL_ERROR'), 'protocol', 'unknown'],
    // Of the streams that it had, some may have been begun.
    [coded('ERR_HTTP2_SESSION_ERROR', 'Session closed with error code 7'), 'transient', 'unknown'],
  ])('[R-5] [R-12] a stream of HTTP/2 was begun, or was not: %s', (error, kind, outcome) => {
    expect(facts(error)).toMatchObject({ kind, outcome });
  });

  it('[R-5] a connection that never stood was not lost', () => {
    expect(facts(coded('ECONNREFUSED')).reason).toBeUndefined();
    expect(facts(coded('ETIMEDOUT', 'connect ETIMEDOUT', { syscall: 'connect' })).reason).toBeUndefined();
  });

  it.each([
    ['UND_ERR_CLOSED', 'transient', 'not_started'],
    ['UND_ERR_DESTROYED', 'transient', 'unknown'],
    ['UND_ERR_HEADERS_OVERFLOW', 'protocol', 'unknown'],
    ['HPE_INVALID_CONSTANT', 'protocol', 'unknown'],
    ['Z_DATA_ERROR', 'protocol', 'unknown'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'protocol', 'not_started'],
    ['ERR_INVALID_URL', 'permanent', 'not_started'],
  ])('[R-5] that fetch tells of: %s is %s, its effect %s', (code, kind, outcome) => {
    expect(facts(new TypeError('fetch failed', { cause: coded(code) }))).toMatchObject({ kind, outcome, code });
  });

  it.each(['unexpected redirect', 'redirect count exceeded'])('[R-5] of fetch: %s is permanent', (message) => {
    expect(kindOf(new TypeError('fetch failed', { cause: new Error(message) }))).toBe('permanent');
  });

  it('[R-12] while it connected left nothing sent', () => {
    const connect = coded('ETIMEDOUT', 'connect ETIMEDOUT', { syscall: 'connect' });
    expect(facts(connect).outcome).toBe('not_started');
    const tried = Object.assign(new AggregateError([connect, connect]), { code: 'ETIMEDOUT' });
    expect(facts(new TypeError('fetch failed', { cause: tried })).outcome).toBe('not_started');
    const tls = coded('ECONNRESET', 'Client network socket disconnected before secure TLS connection was established');
    expect(facts(tls).outcome).toBe('not_started');
    expect(facts(coded('ECONNRESET', 'read ECONNRESET', { syscall: 'read' })).outcome).toBe('unknown');
  });

  it('[R-5] is found among the causes and in aggregates', () => {
    expect(kindOf(new TypeError('fetch failed', { cause: coded('ECONNRESET') }))).toBe('transient');
    expect(facts(new TypeError('fetch failed', { cause: new AggregateError([coded('ECONNREFUSED')]) })).outcome).toBe(
      'not_started',
    );
  });

  it('[R-5] of a certificate is a handshake that was refused', () => {
    expect(kindOf(coded('CERT_HAS_EXPIRED'))).toBe('protocol');
  });
});

describe('a process that cannot start', () => {
  it.each([
    ['ENOENT', 'spawn'],
    ['EACCES', 'spawn'],
    ['E2BIG', 'spawn'],
    ['EAGAIN', 'transient'],
    ['EMFILE', 'transient'],
    ['ENOMEM', 'transient'],
  ])('[R-5] for %s is %s and has not started', (code, kind) => {
    expect(facts(coded(code, 'no', { syscall: 'spawn foo' }))).toMatchObject({ kind, outcome: 'not_started', code });
  });

  it.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])('[R-5] for %s says nothing about the other side', (code) => {
    const error = coded(code, `spawn foo ${code}`, { syscall: 'spawn foo', errno: -24 });
    expect(facts(error)).toMatchObject({ kind: 'transient', breaker: 'ignored' });
    expect(facts(new Error('no process', { cause: error }))).toMatchObject({ kind: 'transient', breaker: 'ignored' });
  });

  it.each([
    { code: 'EMFILE', syscall: 'spawn git', errno: -24, message: 'spawn git EMFILE' },
    new Error('spawn git EMFILE'),
    new Error('The server said', { cause: { code: 'EMFILE', syscall: 'spawn git', errno: -24 } }),
    coded('EMFILE', 'too many open files', { syscall: 'open', errno: -24 }),
  ])('[R-5] counts for the breaker where the other side tells of it, or no process was started: %o', (thrown) => {
    expect(facts(thrown).breaker).toBeUndefined();
  });

  it('[R-5] is no missing file', () => {
    expect(kindOf(coded('ENOENT', 'no such file', { syscall: 'open' }))).toBe('unknown');
  });
});

describe('a process that ended', () => {
  it.each([
    [{ exitCode: 124 }, 'unknown'],
    [{ exitCode: 124, command: 'timeout 5s make' }, 'timeout'],
    [{ exitCode: 127 }, 'unknown'],
    [{ exitCode: 127, command: 'nosuch --x', stderr: '/bin/sh: 1: nosuch: not found' }, 'spawn'],
    [{ code: 127, cmd: 'nosuch', message: 'Command failed: nosuch\n/bin/sh: 1: nosuch: not found\n' }, 'spawn'],
    [{ exitCode: 126, command: 'sh steps.sh' }, 'unknown'],
    [{ exitCode: 126, command: 'sh steps.sh', stderr: 'sh: steps.sh: Permission denied' }, 'spawn'],
    [{ exitCode: 137 }, 'unknown'],
    [{ code: 137, signal: null, cmd: 'sh -c make' }, 'unknown'],
    [{ exitCode: 129, command: 'git diff --bogus' }, 'unknown'],
    [{ exitCode: 143, command: 'claude -p hello' }, 'crash'],
    [{ code: null, signal: 'SIGKILL', cmd: 'make' }, 'crash'],
    [{ signal: 'SIGKILL' }, 'crash'],
    [{ exitCode: 1 }, 'unknown'],
    [{ exitCode: 1, stderr: 'Error: HTTP 503' }, 'transient'],
    [{ cmd: 'x', code: 1, stderr: 'not logged in' }, 'auth'],
    [{ timedOut: true, signal: 'SIGTERM' }, 'timeout'],
    [{ isCanceled: true, signal: 'SIGTERM' }, 'cancelled'],
  ])('[R-5] with %j is %s', (error, kind) => {
    expect(kindOf(error)).toBe(kind);
  });

  it('[R-5] is never judged by its ordinary output', () => {
    expect(kindOf({ exitCode: 1, stdout: 'HTTP 503' })).toBe('unknown');
  });

  it('[R-5] is judged by the end of a long stderr too', () => {
    expect(kindOf(`${'noise '.repeat(5000)}\nAPI Error: 529 Overloaded`)).toBe('overloaded');
  });
});

describe('a closed WebSocket', () => {
  it.each([
    [1006, 'transient'],
    [1012, 'transient'],
    [1013, 'transient'],
    [1008, 'auth'],
    [1009, 'permanent'],
    [1002, 'protocol'],
  ])('[R-5] with code %d is %s', (code, kind) => {
    expect(kindOf({ type: 'close', code, wasClean: false })).toBe(kind);
    expect(kindOf({ closeCode: code })).toBe(kind);
    expect(kindOf(new Error(`gateway closed (${code})`))).toBe(kind);
  });

  it('[R-5] is not every error with a small number', () => {
    expect(kindOf(coded(1006, 'table is full'))).toBe('unknown');
  });
});

describe('a JSON-RPC error', () => {
  const timedOut = coded(-32_001, 'MCP error -32001: Request timed out', { data: { timeout: 5 } });

  it('[R-5] -32001 of our own client is a timeout, of the peer it is not', () => {
    expect(kindOf(timedOut, { source: 'local' })).toBe('timeout');
    expect(kindOf(timedOut, { source: 'peer' })).toBe('unknown');
  });

  it('[R-5] -32001 with the reason of a signal is cancelled', () => {
    expect(kindOf(coded(-32_001, 'MCP error -32001: enough'), { source: 'local' })).toBe('cancelled');
  });

  it('[R-5] -32001 of Codex is overload', () => {
    expect(kindOf(coded(-32_001, 'Server overloaded; retry later.'), { source: 'peer' })).toBe('overloaded');
  });

  it.each([
    [-32_600, 'permanent'],
    [-32_601, 'permanent'],
    [-32_602, 'permanent'],
    [-32_603, 'transient'],
    [-32_700, 'protocol'],
    [-32_022, 'protocol'],
    [-32_042, 'permanent'],
  ])('[R-5] %d is %s', (code, kind) => {
    expect(kindOf(coded(code), { source: 'peer' })).toBe(kind);
  });

  it('[R-5] of a closed connection is a crash only when our client says it', () => {
    const closed = coded(-32_000, 'MCP error -32000: Connection closed');
    expect(facts(closed, { source: 'local' })).toMatchObject({ kind: 'crash', reason: 'connection_lost' });
  });
});

describe('an end on request', () => {
  it('[R-5] is told from a limit', () => {
    expect(facts(new DOMException('no', 'AbortError'))).toMatchObject({ kind: 'cancelled', outcome: 'cancelled' });
    expect(facts(new DOMException('no', 'TimeoutError'))).toMatchObject({ kind: 'timeout', outcome: 'unknown' });
  });
});

describe('texts of one’s own', () => {
  const patterns = [
    { pattern: 'Warming Up', kind: 'transient' },
    { pattern: /no such label/g, kind: 'permanent' },
  ] as const;

  it('[R-5] add to the built-in ones, in any case', () => {
    expect(kindOf(new Error('warming up'))).toBe('unknown');
    expect(kindOf(new Error('warming up'), { patterns })).toBe('transient');
  });

  it('[R-5] give the same answer each time', () => {
    const error = new Error('no such label');
    expect([1, 2, 3].map(() => kindOf(error, { patterns }))).toEqual(['permanent', 'permanent', 'permanent']);
  });

  it('[R-5] lose against what is permanent, and win when they are', () => {
    expect(kindOf(new Error('No session found with label: main, warming up'), { patterns })).toBe('permanent');
    expect(kindOf({ status: 400, message: 'warming up' }, { patterns })).toBe('permanent');
    expect(kindOf({ status: 503, message: 'no such label' }, { patterns })).toBe('permanent');
  });

  it('[G-10] may be anything that tests a text, of which it gets the two ends alone', () => {
    const seen: string[] = [];
    const test = (text: string): boolean => seen.push(text) > 0;
    const text = `begin${'x'.repeat(100_000)}end`;
    expect(kindOf(new Error(text), { patterns: [{ pattern: { test }, kind: 'transient' }] })).toBe('transient');
    expect(seen.map((each) => [each.length, each.startsWith('begin'), each.endsWith('end')])).toEqual([
      [8001, true, true],
    ]);
  });

  it('[I-4] say nothing when they throw', () => {
    const broken = {
      test: () => {
        throw new Error('bug');
      },
    };
    const all = [{ pattern: broken, kind: 'permanent' as const }, ...patterns];
    expect(facts(new Error('warming up'), { patterns: all })).toMatchObject({
      kind: 'transient',
      message: 'warming up',
    });
  });

  it('[R-5] do not rename what the structure says for sure', () => {
    expect(kindOf({ status: 401, message: 'no such label' }, { patterns })).toBe('auth');
    expect(kindOf(new DOMException('no such label', 'AbortError'), { patterns })).toBe('cancelled');
  });
});

describe('what is known already', () => {
  const known: FailureFacts = {
    kind: 'protocol',
    message: 'bad handshake',
    outcome: 'failed',
    reason: 'init_rejected',
  };

  it('[R-5] is taken as it is, also from a cause', () => {
    const error = new AttemptError(known);
    expect(facts(error)).toEqual({ ...known, cause: error });
    expect(facts(new Error('outer ECONNRESET', { cause: error })).reason).toBe('init_rejected');
  });

  it('[R-7] comes out of a thrown failure without its attempts', () => {
    const failure: Failure = { ...known, integration: 'kb', attempts: 3, retryable: false };
    expect(facts(new IntegrationError(failure))).not.toHaveProperty('attempts');
    expect(facts(new IntegrationError(failure))).toMatchObject(known);
  });

  it('[R-12] is that nothing happened when the call was not dispatched', () => {
    expect(facts(coded('ECONNRESET'), { dispatched: false }).outcome).toBe('not_started');
  });
});

describe('the message', () => {
  it('[R-7] is one line of at most 500 characters', () => {
    const { message } = facts(new Error(`a\n\u001b[31mb ${'c'.repeat(1000)}`));
    expect(message).toMatch(/^a \[31mb c+$/);
    expect(message).toHaveLength(500);
  });

  it('[R-7] names the cause that the error does not', () => {
    expect(facts(new Error('fetch failed', { cause: new Error('bad port') })).message).toBe('fetch failed: bad port');
  });

  it('[R-7] is there even where nobody wrote one', () => {
    expect(facts(undefined).message).toBe('An error without a message');
    expect(facts({ status: 503 }).message).toBe('HTTP 503');
  });
});

describe('classification', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const throwing = {
    get message() {
      throw new Error('no');
    },
    get status() {
      throw new Error('no');
    },
  };
  const cyclic = new Error('a');
  cyclic.cause = new AggregateError([cyclic], 'b', { cause: cyclic });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('s')],
    ['throwing getters', throwing],
    ['a revoked proxy', revoked()],
    ['a cycle', cyclic],
    ['numeric headers', { status: 429, headers: { get: () => 5 } }],
  ])('[R-5] does not throw for %s', (_, error) => {
    expect(failureKinds).toHaveProperty(kindOf(error));
  });

  it('[R-5] does not throw for anything at all, and stays within its kinds and bounds', () => {
    const keys = fc.constantFrom(
      'status',
      'code',
      'message',
      'cause',
      'errors',
      'headers',
      'response',
      'error',
      'data',
      'name',
      'exitCode',
      'signal',
      'stderr',
    );
    const anything = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.anything(), fc.integer({ min: -33_000, max: 5000 }), tie('object')),
      object: fc.dictionary(keys, tie('value')),
    }));
    fc.assert(
      fc.property(anything.object, fc.boolean(), (error, dispatched) => {
        const found = classify(error, { wallNow, dispatched });
        expect(failureKinds).toHaveProperty(found.kind);
        expect(found.message.length).toBeLessThanOrEqual(500);
        expect(found.message).not.toBe('');
        expect(dispatched || found.kind === 'unknown' || found.outcome === 'not_started').toBe(true);
      }),
    );
  });
});
