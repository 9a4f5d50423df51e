import { describe, expect, it } from 'vitest';
import { withoutVolatile } from '../../../src/policy/spinning/volatile.ts';

describe('an answer without what changes by itself', () => {
  it.each([
    ['moments', 'at 2026-11-30T02:14:18.123Z: no', 'at 2027-01-02 12:00:00+01:00: no'],
    ['times of a day', '[02:14:18.5] no', '[13:01:02] no'],
    ['times of a log', 'Nov 30 02:14:18 host app: no', 'Dec  1 12:00:01 host app: no'],
    ['times of mail and HTTP', 'Date: Mon, 30 Nov 2026 02:14:18 GMT, no', 'Date: Tue, 01 Dec 2026 12:00:00 GMT, no'],
    ['times of an access log', '[30/Nov/2026:02:14:18 +0000] no', '[01/Dec/2026:12:00:00 +0000] no'],
    ['seconds of the epoch', 'now=1795255550 no', 'now=1795255561.25 no'],
    ['durations', 'failed after 0.3 seconds (12ms)', 'failed after 1 min 5 s (1204 ms)'],
    ['durations in one word', 'failed in 1m30s', 'failed in 2m5.1s'],
    ['process ids', 'pid 4711 is gone (node:12) app[33]: no', 'pid 5 is gone (node:4444) app[1234]: no'],
    ['request ids', 'no, request id: abc-123-def; req_011CUx1', 'no, request id: 77f-1; req_99zzk2Q'],
    ['attempts', 'attempt 3 of 5 failed, 2nd try', 'attempt 4 of 5 failed, 3rd try'],
    ['colours', '\u001b[31mno 1\u001b[0m', 'no 1'],
    ['white space', 'no\n\n  line', ' no line '],
  ])('[G-15] takes out %s', (_what, one, other) => {
    expect(withoutVolatile(one)).toBe(withoutVolatile(other));
    expect(withoutVolatile(one)).toMatch(/[a-z]/);
  });

  it.each([
    ['another item', 'item 1 is done', 'item 2 is done'],
    ['another place', 'src/a.ts:12:30 no such name', 'src/a.ts:14:02 no such name'],
    ['another place, in columns', '  12:30  error  no', '  14:02  error  no'],
    ['another share', '41% done', '42% done'],
    ['another count', 'passed 120, failed 3', 'passed 121, failed 2'],
    ['another version', 'v1.2.3', 'v1.2.4'],
    ['another commit', '9f8e7d6c5b4a', '1a2b3c4d5e6f'],
    ['another size', '512 MB used', '513 MB used'],
    ['another page', 'page 3 of 10', 'page 4 of 10'],
  ])('[G-15] keeps %s', (_what, one, other) => {
    expect(withoutVolatile(one)).not.toBe(withoutVolatile(other));
  });

  it('[G-15] leaves an answer that is nothing else as it is', () => {
    expect(withoutVolatile('02:14:18')).not.toBe(withoutVolatile('02:14:19'));
    expect(withoutVolatile('12 ms')).toBe('12 ms');
  });
});
