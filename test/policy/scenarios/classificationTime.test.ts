import { expect, it } from 'vitest';
import { exitFacts } from '../../../src/actors/process/processExit.ts';
import type { ProcessExit } from '../../../src/machines/subprocessExit.ts';
import { classify } from '../../../src/policy/failures/classify.ts';

const wallNow = Date.UTC(2026, 2, 2, 12);

/** Runs of one thing: letters, digits, spaces, punctuation, and the beginnings of what is looked for. */
const pieces = [
  ...['a', 'A', 'Aa', '1', '1 ', '12:', '2026-01-02 ', 'T1', '1Z', ' ', '\t', '\n', '.', '-', '_', '"', '(', '{', ','],
  ...['a ', 'A.', 'a_', 'A/', 'aB: ', '0:', 'é', '漢', '\u{1F600}', '1s ', '1 h, and ', '500 ', 'HTTP 50', '{"a":'],
  ...[
    'Error',
    'TypeError',
    '"type":"',
    'ER_A',
    ': AA',
    'StatusCode.A',
    'level: ',
    'info',
    'resets at ',
    'try again in ',
  ],
  ...['limit exceeded ', 'prompt exceeds ', 'over the limit of ', 'per ', 'connect to x ', 'tokens ', 'spawn ', 'no '],
];
const longText = (piece: string): string => piece.repeat(65_536 / piece.length);

/** Beginnings after which patterns look on, and what follows. */
const begun = ['a', 'A', '1', '1 ', ' ', '.'].map((piece) => `retry in 500 the limit of ${longText(piece)}!`);

const channels: readonly (readonly [channel: string, judge: (text: string) => unknown])[] = [
  ['message', (text) => classify(new Error(text), { wallNow })],
  ['name and code', (text) => classify({ name: text, code: text, message: 'x' }, { wallNow })],
  ['message beside the number of gRPC', (text) => classify({ code: 14, message: text }, { wallNow })],
  [
    'answer',
    (text) => {
      const error = { message: text, type: text, retry_after: text, resets_at: text, [text]: text };
      return classify({ status: 429, headers: { 'retry-after': text, date: text }, body: { error } }, { wallNow });
    },
  ],
  ['stderr of a command', (text) => exitFacts(exitSaying(text))],
];

function exitSaying(text: string): ProcessExit {
  const output = (said: string) => ({ text: said, bytes: Buffer.byteLength(said), omittedBytes: 0 });
  const exit = { reason: 'exit', message: '', exitCode: 1, stdout: output(''), stderr: output(text) };
  return { ...exit, startedAt: wallNow, endedAt: wallNow } as unknown as ProcessExit;
}

it.each(channels)('[R-5] takes no long time for any %s', (_, judge) => {
  for (const text of [...pieces.map(longText), ...begun]) {
    const before = process.cpuUsage();
    judge(text);
    // Of the processor alone, which is milliseconds; it takes minutes where it grows with a power of the length.
    const seconds = process.cpuUsage(before).user / 1e6;
    expect(seconds < 5 ? [] : [seconds, text.slice(0, 40)]).toEqual([]);
  }
});
