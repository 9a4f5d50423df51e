import { describe, expect, it } from 'vitest';
import { lastWords } from '../../../src/policy/text/lastWords.ts';

describe('the last words of a program', () => {
  it.each([
    ['got 503 Service Unavailable, trying again\nerror: no space left on device\n', 'error: no space left on device'],
    ['curl: (7) Failed to connect: Connection refused\n\n', 'curl: (7) Failed to connect: Connection refused'],
    [
      "Error: connect ECONNREFUSED ::1:1\n    at f (net.js:1:1) {\n  code: 'ECONNREFUSED',\n}\n\nNode.js v20.20.2\n",
      "Error: connect ECONNREFUSED ::1:1\ncode: 'ECONNREFUSED',",
    ],
    ['Error: no answer\n\nCaused by:\n    0: connection refused', 'Caused by:\n0: connection refused'],
    ['  indented alone\n', 'indented alone'],
  ])('[R-5] of %j are its last line, with what is indented below', (text, words) => {
    expect(lastWords(text)).toBe(words);
  });

  it.each([
    '',
    ' \n\n',
    'info: rate limit 50/min',
    '[INFO] usage limit reached',
    '2026-01-02T03:04:05.678Z WARN 503, trying again',
    '12:01:02.123 [debug] ECONNRESET',
    '{"level":"info","msg":"429 Too Many Requests"}',
    '{"level":30,"msg":"503"}',
    'time=12 level=warning msg="connection refused"',
  ])('[R-5] are none in %j', (text) => {
    expect(lastWords(text)).toBeUndefined();
  });

  it.each(['0', '0 ', '1:', '-', '0t', 'level '])(
    '[R-5] are found in long runs of %j by looking once',
    (piece) => {
      const line = piece.repeat(20_000);
      expect(lastWords(`${line}!`)).toBe(`${line}!`);
    },
    5000,
  );
});
