import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/policy/failures/classify.ts';
import { mayRepeat } from '../../../src/policy/failures/repetition.ts';
import { lastWords } from '../../../src/policy/text/lastWords.ts';

const wallNow = Date.UTC(2026, 10, 29, 12);
const of = (error: unknown) => classify(error, { wallNow });
const ofText = (text: string) => of(new Error(text));

/** Effects that took place, beside words of a refusal: of each no permission to repeat may come. */
const effects = [
  'payment booked, but user 503 not found',
  'order 17 placed; row 429 not found in the CRM',
  'charged; receipt not stored: status 503 is not in enum [200, 404]',
  'error: 429 tests failed',
  'Error 503 rows exceeded',
  'AssertionError [ERR_ASSERTION]: Expected "503 Service Unavailable" to equal "200 OK"',
  'could not read docs/503 Service Unavailable.html',
  'mail sent; then: connection refused by the logger',
  'Flight 529 not found',
  'Invoice INV-503 not found',
  'Error 503: seat taken',
  'rpc error: code = NotFound desc = user 503 not found',
  'order placed, then 503 Service Unavailable from the mail server',
  '503 Service Unavailable: the invoice was already sent',
  '429 Too Many Requests, but the first half was booked',
  'Request failed with status code 503 after the payment was captured',
  'booked; connect ECONNREFUSED 127.0.0.1:514',
  'connect ECONNREFUSED 127.0.0.1:514 while logging; transfer done',
  'getaddrinfo ENOTFOUND smtp.local: the order stands, its mail does not',
  'rate limit exceeded for reminders; ticket 4 created',
  'Overloaded truck left with parcel 7',
  'transfer made, archive said {"status":503}',
  'transfer made, archive said {"error":{"type":"rate_limit_error"}}',
  'Service unavailable in your region: voucher 9 is spent',
  "You've hit your limit on vouchers, last one redeemed. Try again in 3 days",
  'saved as docs/429 Too Many Requests.md, index not written',
  'release tagged; branch fix/529-overloaded not found',
  'API Error: 503 rows imported, 2 rejected',
  'deadlock detected in review queue after publishing',
  'Too many requests in basket 4, basket ordered',
  'mailer: connection refused',
  'Order 7 ok, mail: 503 Service Unavailable',
  '[booked] 429 Too Many Requests',
  'Notification failed: 503 Service Unavailable',
  'Failed to send receipt: 429 Too Many Requests',
  'cleanup request failed: 503 Service Unavailable',
  'audit API error: 429 Too Many Requests',
  'Payment captured. Notification API error: 429 Too Many Requests',
  'Error executing tool transfer: transfer made, then 503 Service Unavailable',
  'Rate limit exceeded. Try again for the remaining 3 rows',
  'Too many requests. Please retry the last 2 items',
  '429 Too Many Requests. 3 of 7 messages went out',
  '503 Service Unavailable: overloaded truck left with parcel 7',
  '503 Service Unavailable\nTransfer 5 went through',
  'Transfer 5 went through\n503 Service Unavailable',
  'Overloaded\n  at 5 pm the order left',
  '{"result":"booked","error":"rate limited"}',
  '{"error":{"type":"rate_limit_error","message":"invoice already sent"}}',
  '429 {"id":"ch_1","object":"charge","status":"pending"}',
  'Request failed with status code 429\n{"items":[{"id":1,"status":201},{"id":2,"status":429}]}',
  "Error code: 503 - {'error': {'message': 'invoice already sent'}}",
];

/** Refusals in whole, as SDKs, clients, command lines and whoever passes them on write them, with their stacks and the answers that they quote. */
const refusals = JSON.parse(
  readFileSync(new URL('../corpus/refusals.json', import.meta.url), 'utf8'),
) as readonly string[];

describe('permission to make a call again that has effects', () => {
  it.each(effects)('[R-12] does not come from a text that tells of something else: %s', (text) => {
    expect(mayRepeat(ofText(text), 'mutating', 'broken') && ofText(text).kind !== 'permanent').toBe(false);
  });

  it.each(refusals)('[R-12] comes from a refusal in whole: %s', (text) => {
    expect(mayRepeat(ofText(text), 'mutating', 'broken')).toBe(true);
  });
});

const body = (status: number, message: string, more: object = {}) =>
  of(Object.assign(new Error(`HTTP ${status}`), { status, body: JSON.stringify({ error: { message, ...more } }) }))
    .kind;

describe('a quota', () => {
  it.each([
    [404, 'No article "quota exceeded"'],
    [404, 'article Monthly quota exceeded was deleted'],
    [410, 'quota exceeded'],
    [409, 'title "quota exceeded" is taken'],
    [422, 'you have exceeded your monthly quota'],
    [413, 'monthly usage limit reached'],
    [400, 'a rule named "monthly quota exceeded" exists'],
    [400, 'Field "monthly limit" is used up by another field'],
    [400, 'invalid title: "you have exceeded your monthly quota"'],
    [400, 'label daily limit exceeded is no valid label'],
  ])('[R-5] is not told by the words of a %i about something else: %s', (status, message) => {
    expect(body(status, message)).toBe('permanent');
  });

  it.each([
    [400, 'Your credit balance is too low to access the API.'],
    [403, 'You have exceeded your monthly usage limit.'],
    [402, 'Payment required: add credits to your account'],
    [429, 'Quota exceeded for quota metric requests, limit requests per day'],
  ])('[R-5] is told by a %i that says it of the account: %s', (status, message) => {
    expect(body(status, message)).toBe('quota');
  });

  it.each([
    'Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-2.5-pro.',
    "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'",
    'Quota exceeded: GenerateRequestsPerMinutePerProjectPerModel',
    'Quota exceeded for online_prediction_requests_per_sec',
  ])('[R-5] of a second or a minute is a rate limit: %s', (message) => {
    expect(body(429, message)).toBe('rate_limit');
  });

  it('[R-5] is not what the card of one payer lacks', () => {
    expect(
      body(402, 'Your card has insufficient funds.', { type: 'card_error', decline_code: 'insufficient_funds' }),
    ).toBe('permanent');
    expect(body(402, 'Authorization error: x', { category: 'PAYMENT_METHOD_ERROR', code: 'CARD_DECLINED' })).toBe(
      'permanent',
    );
    expect(ofText('Your card has insufficient funds.').kind).toBe('permanent');
  });
});

describe('the last line of a command', () => {
  it.each([
    'FAIL test/x.test.ts > returns 503 when overloaded',
    '1 test failed: rate limit reached should back off',
    "error: pathspec 'test/quota exceeded.md' did not match any file(s) known to git",
    "Branch 'fix/ECONNRESET-retry' not found",
    '--- FAIL: TestRateLimitExceeded (0.00s)',
    'not ok 3 - answers 503 Service Unavailable',
    'FAILED tests/test_api.py::test_rate_limit_exceeded - assert 1 == 2',
    ' ✗ retries on 429 too many requests (12 ms)',
    '  1) should return 503 Service Unavailable',
    'test limits::quota_exceeded ... FAILED',
    'fatal: invalid reference: feature/rate-limit-exceeded',
    'commit message "handle 429 too many requests" rejected by hook',
    'cannot open docs/quota exceeded.txt',
  ])('[R-5] tells no kind where it is a report or a name: %s', (line) => {
    expect(of(lastWords(line) ?? '').kind).toBe('unknown');
  });
});

describe('hints of clients', () => {
  const named = (name: string, fields: object, message = '') => Object.assign(new Error(message), { name }, fields);

  it.each([
    [
      'AI SDK',
      named('AI_RetryError', {
        lastError: named('AI_APICallError', { statusCode: 429, responseHeaders: { 'retry-after': '3' } }),
      }),
      3000,
    ],
    [
      'grammY',
      named(
        'GrammyError',
        { error_code: 429, ok: false, parameters: { retry_after: 17 } },
        "Call to 'sendMessage' failed! (429: Too Many Requests: retry after 17)",
      ),
      17_000,
    ],
    [
      'discord.js',
      named(
        'RateLimitError[/channels]',
        { timeToReset: 1500, retryAfter: 1400, limit: 5, global: false },
        'rate limited',
      ),
      1400,
    ],
    ['discord.js without a wait', named('RateLimitError', { timeToReset: 900, limit: 5, global: false }), 900],
    ['words without a unit', new Error('Too Many Requests: retry after 17'), 17_000],
  ])('[R-3] are honoured: %s', (_, error, retryAfterMs) => {
    expect(of(error)).toMatchObject({ kind: 'rate_limit', retryAfterMs });
  });
});

describe('forms of programs and services', () => {
  it.each([
    ['auth', 'requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://x/'],
    ['transient', "Max retries exceeded with url: /x (Caused by ResponseError('too many 503 error responses'))"],
    ['rate_limit', "Max retries exceeded with url: /x (Caused by ResponseError('too many 429 error responses'))"],
    ['auth', 'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"'],
    ['permanent', 'Error from server (NotFound): pods "a-503" not found'],
    ['auth', 'denied: requested access to the resource is denied'],
    ['transient', 'Error 502: upstream died'],
    ['transient', 'Got error 500 from server'],
    ['rate_limit', 'The API said: "Rate limit exceeded, try again later"'],
    ['transient', 'The server replied with "503 Service Unavailable"'],
    ['permanent', 'manifest for x:503 not found: manifest unknown: manifest unknown'],
  ])('[R-5] are %s: %s', (kind, text) => {
    expect(ofText(text).kind).toBe(kind);
  });

  it('[R-5] are known by their fields', () => {
    const aws = Object.assign(new Error('Your socket connection was not read from'), {
      name: 'RequestTimeout',
      $metadata: { httpStatusCode: 400 },
    });
    const mysql = Object.assign(new Error("User 'x' has exceeded the 'max_questions' resource"), {
      code: 'ER_USER_LIMIT_REACHED',
      errno: 1226,
      sqlState: '42000',
    });
    const github = Object.assign(new Error('You have triggered an abuse detection mechanism.'), { status: 403 });
    const mcp = Object.assign(new Error('MCP error -32603: Too many requests'), { code: -32_603 });
    expect([aws, mysql, github, mcp].map((each) => of(each).kind)).toEqual([
      'timeout',
      'rate_limit',
      'rate_limit',
      'rate_limit',
    ]);
  });
});
