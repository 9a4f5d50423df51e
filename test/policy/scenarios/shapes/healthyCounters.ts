import { failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { clock, hash, hex, millis } from './volatile.ts';

/** Equal calls whose answers differ by a number: other work each time. */
export const healthyCounters: readonly Shape[] = [
  healthy(
    'item 1, item 2, item 3',
    times(80, (index) => ok('next_item', {}, `item ${index + 1}`)),
    { tools: { next_item: { effect: 'readOnly' } }, source: 'paperclip#390' },
  ),
  healthy(
    'rows that fail one after the other',
    times(60, (index) => failed('import_next', {}, `Row ${index + 2}: invalid date`, { kind: 'invalid' })),
  ),
  healthy(
    'errors of a compiler that become fewer',
    times(60, (index) =>
      failed(
        'typecheck',
        { project: 'tsconfig.json' },
        `Found ${212 - index * 3} errors in ${40 - Math.floor(index / 2)} files.`,
        {
          tookMs: millis(index) * 4,
        },
      ),
    ),
  ),
  healthy(
    'a page of results by its number in the answer',
    times(50, (index) => ok('next_results', {}, `Page ${index + 1} of 50 (${clock(index)})`)),
    { tools: { next_results: { effect: 'readOnly' } } },
  ),
  healthy(
    'memory that is sampled',
    times(60, (index) =>
      ok('memory', { process: 'worker' }, `rss ${312 + (index % 2 === 0 ? index : 200 - index)} MB`),
    ),
    { tools: { memory: { effect: 'readOnly' } } },
  ),
  healthy(
    'lines of a file that is written to',
    times(60, (index) => ok('Bash', { command: 'wc -l out.csv' }, `${1000 + index * 13} out.csv`)),
  ),
  healthy(
    'a ping with its sequence',
    times(60, (index) =>
      ok(
        'ping',
        { host: '1.1.1.1' },
        `64 bytes from 1.1.1.1: icmp_seq=${index + 1} ttl=57 time=${millis(index) / 10} ms`,
      ),
    ),
    { tools: { ping: { effect: 'readOnly' } } },
  ),
  healthy(
    'chunks that are refused one after the other by their offset',
    times(40, (index) =>
      failed('upload_next_chunk', { file: 'a.iso' }, `checksum mismatch at offset ${index * 65_536}`),
    ),
  ),
  healthy(
    'a score of a game between equal moves',
    times(45, (index) => [ok('move', { direction: 'down' }, 'moved'), ok('score', {}, `score: ${index * 10}`)]),
    { tools: { score: { effect: 'readOnly' } } },
  ),
  healthy(
    'a coverage that grows by tenths',
    times(50, (index) => ok('coverage', {}, `All files | ${(41 + index / 10).toFixed(1)} | ${clock(index * 40)}`)),
    { tools: { coverage: { effect: 'readOnly' } } },
  ),
  healthy(
    'jobs that are taken from a queue and fail, each with its number',
    times(48, (index) =>
      failed(
        'run_next_job',
        { queue: 'mail' },
        `job ${9000 + index} failed: mailbox full (request id: ${hex(hash(index), 10)})`,
      ),
    ),
  ),
];
