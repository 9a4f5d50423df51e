import { describe, expect, it } from 'vitest';
import { withoutVolatile } from '../../../src/policy/spinning/volatile.ts';

const uuids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'];

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
    ['the group of a process', 'hi\nProcess Group PGID: 3339', 'hi\nProcess Group PGID: 3342'],
    ['request ids', 'no, request id: abc-123-def; req_011CUx1', 'no, request id: 77f-1; req_99zzk2Q'],
    ['attempts', 'attempt 3 of 5 failed, 2nd try', 'attempt 4 of 5 failed, 3rd try'],
    ['the process behind a time', '02:14:18.5 UTC [4711] no role', '12:01:09.7 UTC [812] no role'],
    ['the process before a time', '4711:M 30 Nov 2026 02:14:18.123 # no', '99:M 30 Nov 2026 12:00:00.001 # no'],
    ['the thread of glog', 'E1130 02:14:18.123456   812 main.go:42] no', 'E1130 12:00:00.123456 77 main.go:42] no'],
    ['the thread of a pool', '[http-exec-7] no', '[http-exec-12] no'],
    ['the time of the kernel', '[   12.345678] usb: no', '[12345.000001] usb: no'],
    ['moments in Japanese', '2026年11月30日 2時14分18秒 失敗', '2027年1月2日 12時0分1秒 失敗'],
    ['moments in German', 'um 9:05 Uhr: nein', 'um 17:25 Uhr: nein'],
    ['durations of other languages', 'após 12 segundos', 'após 3 segundos'],
    ['durations in Chinese', '耗时 123 毫秒', '耗时 45 毫秒'],
    ['named durations', '{"took":12,"hits":0}', '{"took":377,"hits":0}'],
    ['named durations with a unit', 'durationMs=12.5 no', 'durationMs=9 no'],
    ['a request by its uuid', `no (request ${uuids[0]})`, `no (request ${uuids[1]})`],
    ['an id in a page', 'Ray ID: <b>8f1e2d3c4b5a</b>', 'Ray ID: <b>77aa2d3c4b5a</b>'],
    ['a trace', `no 00-${'ab12'.repeat(8)}-${'12cd'.repeat(4)}-01`, `no 00-${'77aa'.repeat(8)}-${'bb01'.repeat(4)}-00`],
    ['objects', 'closed: com.acme.Pool@1b2c3d4e', 'closed: com.acme.Pool@99887766'],
    ['a process that died', 'process 4711 exited: no', 'process 12 exited: no'],
    ['attempts of other languages', 'Versuch 3 von 5: nein', 'Versuch 4 von 5: nein'],
    ['attempts in Chinese', '第3次重试失败', '第12次重试失败'],
    ['what was overwritten', '⠋ no\r⠙ no\r⠹ no', '⠋ no\r⠹ no'],
    ['what was overwritten in one line of two', 'a\r\n1%\r9%\rno\r\n', 'a\r\n3%\rno\r\n'],
    ['temporary files of mktemp', 'no /tmp/tmp.AbcdEfgHij: locked', 'no /tmp/tmp.4x9KQzzA1b: locked'],
    ['temporary files of Python', 'no /tmp/tmpab_cd12f/x', 'no /tmp/tmpzz9q8_ab/x'],
    ['colours', '\u001b[31mno 1\u001b[0m', 'no 1'],
    ['white space', 'no\n\n  line', ' no line '],
  ])('[G-15] takes out %s', (_what, one, other) => {
    expect(withoutVolatile(one)).toBe(withoutVolatile(other));
    expect(withoutVolatile(one)).toMatch(/\p{L}/u);
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
    ['metres', '5 m away', '6 m away'],
    ['ore', '5 ore', '6 ore'],
    ['a worker that is a node', 'worker-3 is down', 'worker-4 is down'],
    ['an order that is processed', 'process 12 of the orders', 'process 13 of the orders'],
    ['an episode', '第3回 見つかりません', '第4回 見つかりません'],
    ['a mark in Chinese', '得分 85分', '得分 86分'],
    ['mails behind a day', '2026-11-30 [7] mails', '2026-11-30 [8] mails'],
    ['a place on the earth', 'at [52.520008]', 'at [52.520009]'],
    ['an address', 'to bo@1234567.example', 'to bo@1234568.example'],
    ['a message by its uuid', `message ${uuids[0]}`, `message ${uuids[1]}`],
    ['the last of what was overwritten', '1%\r41%', '1%\r42%'],
    ['another file by its name', 'no /work/tmpfile0001', 'no /work/tmpfile0002'],
    ['another page', 'page 3 of 10', 'page 4 of 10'],
  ])('[G-15] keeps %s', (_what, one, other) => {
    expect(withoutVolatile(one)).not.toBe(withoutVolatile(other));
  });

  it('[G-15] leaves an answer that is nothing else as it is', () => {
    expect(withoutVolatile('02:14:18')).not.toBe(withoutVolatile('02:14:19'));
    expect(withoutVolatile('12 ms')).toBe('12 ms');
  });
});
