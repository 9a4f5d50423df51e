import { failed, ok, spinning } from './build.ts';
import { otherCall, otherRead } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { clock, hex, iso, pid, seconds } from './volatile.ts';

const readOnly = { effect: 'readOnly' } as const;
const list = ok('list_dir', { path: '/repo/src' }, 'app.ts\nserve.ts');
const view = ok('read_file', { path: '/repo/src/app.ts' }, 'serve(3000);');
const search = ok('grep', { pattern: 'listen(' }, '');
const edit = failed(
  'str_replace',
  { path: '/repo/src/app.ts', old: 'listen(', new: 'bind(' },
  'No match found for replacement. Please check your text and try again.',
);
const build = (index: number) => failed('shell', { command: 'make' }, `make[1]: *** [app] Error 2 (pid ${pid(index)})`);
const declared = { list_dir: readOnly, read_file: readOnly, grep: readOnly };

/** Cycles of three to five calls. */
export const spinningCycles: readonly SpinningShape[] = [
  spinning('list, read, edit not found', () => [list, view, edit], { count: 20 }),
  spinning('list, read, edit not found, declared, across a compaction', () => [list, view, edit], {
    tools: { list_dir: readOnly, read_file: readOnly },
    breaks: { 6: 'compaction' },
  }),
  spinning('list, read, edit not found, with two others before', () => [list, view, edit], {
    between: 2,
    count: 12,
    other: otherCall,
  }),
  spinning('list, search, read, edit not found', () => [list, search, view, edit], { count: 15 }),
  spinning('list, search, read, edit not found, across two restarts', () => [list, search, view, edit], {
    tools: declared,
    breaks: { 4: 'restart', 9: 'restart' },
  }),
  spinning('list, search, read, edit not found, with another read before', () => [list, search, view, edit], {
    count: 13,
    between: 1,
    other: otherRead,
  }),
  spinning('list, search, read, edit not found, make fails', (index) => [list, search, view, edit, build(index)], {
    count: 14,
  }),
  spinning(
    'list, search, read, edit not found, make fails, across a compaction and a restart',
    (index) => [list, search, view, edit, build(index)],
    {
      count: 14,
      breaks: { 5: 'compaction', 8: 'restart' },
    },
  ),
  spinning(
    'five declared reads in turn, with times',
    (index) => [
      ok('pods', {}, `0 pods ${clock(index * 5)}`),
      ok('events', {}, `no events since ${iso(index * 5)}`),
      ok('nodes', {}, '3 nodes ready'),
      ok('logs', { app: 'web' }, ''),
      ok('services', {}, `none (took ${seconds(index)}s)`),
    ],
    { count: 13, tools: { pods: readOnly, events: readOnly, nodes: readOnly, logs: readOnly, services: readOnly } },
  ),
  spinning(
    'three failures in turn with request ids',
    (index) => [
      failed('get_user', { id: 'u1' }, `404 not found, request id ${hex(index, 12)}`),
      failed('find_user', { mail: 'a@acme.test' }, `400 unknown field "mail", request id ${hex(index + 50, 12)}`),
      failed('list_users', { page: 0 }, `422 page begins at 1, request id ${hex(index + 90, 12)}`),
    ],
    { breaks: { 3: 'compaction' } },
  ),
  spinning('a read twice, then the edit, a cycle of three with an equal part', () => [view, view, edit]),
];
