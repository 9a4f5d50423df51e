import { healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { clock, epoch, hex, iso, millis, pid, seconds, uuid, word } from './volatile.ts';

const read = (tool: string) => ({ tools: { [tool]: { effect: 'readOnly' } } }) as const;

/** Answers that are nothing but what changes by itself: these count as they are. */
export const healthyClocks: readonly Shape[] = [
  healthy(
    'a clock',
    times(60, (index) => ok('now', {}, iso(index * 7))),
    read('now'),
  ),
  healthy(
    'a clock without a date',
    times(60, (index) => ok('time_of_day', {}, clock(index * 61))),
    read('time_of_day'),
  ),
  healthy(
    'a clock in seconds since 1970',
    times(60, (index) => ok('epoch', {}, `${epoch(index * 3)}`)),
    read('epoch'),
  ),
  healthy(
    'a stopwatch',
    times(50, (index) => ok('lap', {}, `${millis(index)} ms`)),
    read('lap'),
  ),
  healthy(
    'a stopwatch in colour',
    times(50, (index) => ok('lap', {}, `\u001b[32m${seconds(index)}s\u001b[0m\n`)),
    read('lap'),
  ),
  healthy(
    'identifiers that are made',
    times(60, (index) => ok('new_uuid', {}, uuid(index))),
    read('new_uuid'),
  ),
  healthy(
    'request ids that are looked up',
    times(40, (index) => ok('last_request', {}, `req_${hex(index, 20)}`)),
    read('last_request'),
  ),
  healthy(
    'a process id that changes with each start',
    times(40, (index) => [
      ok('start_worker', { kind: word(index) + index }, 'started'),
      ok('pgrep', { name: 'worker' }, `${pid(index)}`),
    ]),
    read('pgrep'),
  ),
  healthy(
    'the time of each entry of a journal',
    times(30, (index) => [
      ok(
        'get_current_time',
        { timezone: 'Europe/Berlin' },
        `{"timezone":"Europe/Berlin","datetime":"${iso(index * 90)}","is_dst":false}`,
      ),
      ok('append', { path: 'journal.md', text: `${clock(index * 90)} ${word(index)} ${index}` }, 'appended'),
      ok('read_file', { path: `inbox/${index}.txt` }, `Letter ${index} of ${word(index)}`),
      ok('move_file', { from: `inbox/${index}.txt`, to: `done/${index}.txt` }, 'moved'),
    ]),
    { tools: { get_current_time: { effect: 'readOnly' }, read_file: { effect: 'readOnly' } } },
  ),
  healthy(
    'a date in a shell, undeclared',
    times(70, (index) => ok('Bash', { command: 'date' }, `Mon Mar  2 ${clock(index * 5)} UTC 2026`)),
  ),
  healthy(
    'a benchmark whose answer is its duration, undeclared',
    times(60, (index) =>
      ok(
        'Bash',
        { command: 'hyperfine -r 1 ./parse' },
        `  Time (abs ≡):        ${millis(index)} ms\n  User: ${seconds(index)} s`,
      ),
    ),
  ),
];
