import { STATUS_CODES } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../src/policy/failures/failure.ts';
import { textMeaning } from '../../../src/policy/failures/errorTexts.ts';
import { byStatus } from '../../../src/policy/failures/httpStatus.ts';

const meanings: readonly (readonly [kind: FailureKind, texts: readonly string[]])[] = [
  [
    'quota',
    [
      "You've hit your session limit · resets 3pm",
      'You’ve hit your usage limit. Upgrade, or try again at 3:45 PM',
      'Quota exceeded. Check your plan and billing details.',
      'API Error: 402 billing',
      'API Error: 400 Your credit balance is too low',
      '429 {"error":{"type":"insufficient_quota"}}',
      'Your workspace is out of credits',
    ],
  ],
  [
    'rate_limit',
    [
      'API Error: Request rejected (429) · slow down',
      'exceeded retry limit, last status: 429 Too Many Requests, request id: x',
      'Server is temporarily limiting requests',
      'rate limit exceeded: try again in 1.5s',
      'Request failed with status code 429',
    ],
  ],
  [
    'overloaded',
    [
      'API Error: Overloaded',
      'API Error: Repeated 529 Overloaded errors. The API is at capacity.',
      'Selected model is at capacity. Please try a different model.',
      'We’re currently experiencing high demand, which may cause temporary errors.',
      'Server overloaded; retry later.',
    ],
  ],
  [
    'auth',
    [
      'Invalid API key · Fix external API key',
      'Not logged in · Please run /login',
      'Failed to authenticate. API Error: 403 no',
      'unexpected status 401 Unauthorized: no',
      'Missing environment variable: `FAKE_KEY`.',
      'gateway closed (1008): policy',
      'auth failed',
      'Authentication failed',
      'authentication failed for https://host/x',
      'Authorization failed: no such user',
      'invalid x-api-key',
      'Forbidden',
      'Request failed: Forbidden',
      '403 Forbidden',
      'fatal: 401 (Unauthorized)',
      'Error code: 401 - {"error":{}}',
      '{"statusCode":403,"message":"no"}',
      '407 Proxy Authentication Required',
      'No API key provided.',
      'API key not valid. Please pass a valid API key.',
      'Bad credentials',
    ],
  ],
  [
    'permanent',
    [
      'API Error: 400 bad field',
      'No session found with label: main',
      'HTTP 422',
      'unexpected status 404 Not Found',
      'gateway closed (1009)',
      'fetch failed: bad port',
      "API Error: Claude's response exceeded the 128000 output token maximum.",
      'Incomplete response returned, reason: max_output_tokens',
      "API Error: Opus 5.5's safeguards flagged this message (x)",
      'Error: Session ID 11111111-2222-4333-8444-555555555555 is already in use.',
      'Error: Input must be provided either through stdin or as a prompt argument when using --print',
      "error: unknown option '--no-such-flag'",
      'Not inside a trusted directory and --skip-git-repo-check was not specified.',
      '400 Bad Request',
      'bad request: no field x',
      '404 Not Found',
      'npm error 404 Not Found - GET https://registry/x',
      'Not Found',
      'GET /x: Not Found',
      '422 Unprocessable Entity',
      'Unprocessable Content',
      'Method Not Allowed',
      '410: Gone',
      '400 status code (no body)',
      'responded with 404',
      'Not Implemented',
    ],
  ],
  [
    'protocol',
    [
      'SSL certificate verification failed',
      'No such tool available: mcp__kb__query',
      'API Error: API returned an empty or malformed response (HTTP 200)',
    ],
  ],
  ['spawn', ['spawn foo ENOENT', 'spawn /bin/x EACCES']],
  ['crash', ['internal error; agent loop died unexpectedly', 'MCP error -32000: Connection closed', 'Not connected']],
  [
    'transient',
    [
      'gateway closed (1012): service restart',
      'gateway closed (1006)',
      'API Error: 500 Internal server error',
      'API Error: 503 Service unavailable. This is a server-side issue, usually temporary',
      'unexpected status 502 Bad Gateway',
      'Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)',
      'Connection to the API was lost (ECONNRESET). This is usually temporary',
      'stream disconnected before completion: error sending request',
      'Connection failed: error sending request',
      'Reconnecting... waiting for network',
      'connect ECONNREFUSED 127.0.0.1:80',
      'socket hang up',
      'spawn node EAGAIN',
    ],
  ],
  [
    'timeout',
    [
      'Request timed out. If the API is slow',
      'API Error: Stream idle timeout - no chunks received',
      'MCP server connection timed out after 5000ms',
    ],
  ],
  ['cancelled', ['turn aborted', 'This operation was aborted', 'user cancelled MCP tool call']],
];

describe('the catalogue of error texts', () => {
  it.each(meanings.flatMap(([kind, texts]) => texts.map((text) => [kind, text] as const)))(
    '[R-5] finds %s in "%s"',
    (kind, text) => {
      expect(textMeaning(text)?.kind).toBe(kind);
    },
  );

  it.each([
    ['messages.1: `tool_use` ids were found without `tool_result` blocks', 'history_unpaired'],
    ["400 An assistant message with 'tool_calls' must be followed by tool messages", 'history_unpaired'],
    ['API Error: 400 prompt is too long: 210000 tokens > 200000 maximum', 'context_length'],
    ["Codex ran out of room in the model's context window. Start a new thread", 'context_length'],
    ['Request too large (max 32MB).', 'message_too_large'],
    ['Error: piped stdin input exceeds 10MB. Pass large content as a file path', 'message_too_large'],
  ])('[R-5] tells what a plain 400 hides: %s', (text, reason) => {
    expect(textMeaning(text)).toMatchObject({ kind: 'permanent', reason });
  });

  it.each([
    'processed 529 records',
    'read 404 lines',
    'closed 1006 tickets',
    'exit code 1',
    '',
    'ENOENT: no such file, open x',
    'module not found',
    'sh: 1: foo: not found',
    'merge conflict in a.ts',
    'the sky is gone',
    'this is not acceptable',
    'expectation failed on line 3',
    'forbidden character in name',
    'handled 400 bad requests and 404 cases',
    'returned 404 rows',
    'at line 403: unexpected token',
    'v1.403 forbidden-planet',
    'the author failed to answer',
    'auth failed over to the replica',
  ])('[R-5] finds nothing in "%s"', (text) => {
    expect(textMeaning(text)).toBeUndefined();
  });

  const phrases = Object.entries(STATUS_CODES).flatMap(([status, phrase]) =>
    Number(status) >= 400 && phrase !== undefined ? [[Number(status), phrase] as const] : [],
  );

  it.each(phrases)('[R-5] understands "%d %s" as the status it is, in any case', (status, phrase) => {
    const { kind, outcome } = byStatus({ status }, 0) ?? {};
    for (const text of [`${status} ${phrase}`, `it said ${status} ${phrase.toLowerCase()}, twice`, `HTTP ${status}`]) {
      expect({ text, ...textMeaning(text) }).toMatchObject({ text, kind, outcome, status });
    }
  });

  // A client says "request timeout" of its own limit, after which nobody knows what became of the request.
  const ownWords = new Set([408, 509]);

  it.each(phrases.filter(([status]) => !ownWords.has(status)))(
    '[R-5] understands %d by its reason phrase alone: %s',
    (status, phrase) => {
      const { kind, outcome } = byStatus({ status }, 0) ?? {};
      for (const text of [phrase, `Request failed: ${phrase}`]) {
        expect({ text, ...textMeaning(text) }).toMatchObject({ text, kind, outcome, status });
      }
    },
  );

  it('[R-5] takes "request timeout" for a limit, as nobody knows whose it was', () => {
    expect(textMeaning('Request timeout')).toMatchObject({ kind: 'timeout', outcome: 'unknown' });
    expect(textMeaning('408 Request Timeout')).toMatchObject({ kind: 'transient', outcome: 'failed' });
  });

  it('[R-5] tells the status and the code that a text names', () => {
    expect(textMeaning('unexpected status 503 Service Unavailable')?.status).toBe(503);
    expect(textMeaning('gateway closed (1012)')?.code).toBe(1012);
    expect(textMeaning('read ECONNRESET')?.code).toBe('ECONNRESET');
  });
});
