import { ok, spinning } from './build.ts';
import { otherCall, otherRead, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { age, clock, coloured, iso, seconds } from './volatile.ts';

const read = (tool: string) => ({ [tool]: { effect: 'readOnly' } }) as const;
const status = ok('git_status', { repo_path: '/repo' }, 'On branch main\nnothing to commit, working tree clean');
const file = ok('Read', { file_path: '/repo/src/app.ts' }, "1→import { serve } from './serve.ts';\n2→serve(3000);");

/** Declared reads that are asked again, with the same answer. */
export const spinningReads: readonly SpinningShape[] = [
  spinning('a clean tree that is looked at again and again', () => status, { count: 40, tools: read('git_status') }),
  spinning('a clean tree, across a restart and a compaction', () => status, {
    count: 20,
    tools: read('git_status'),
    breaks: { 4: 'restart', 9: 'compaction' },
  }),
  spinning('a clean tree, with four searches before each look', () => status, {
    count: 14,
    tools: read('git_status'),
    between: 4,
    other: otherCall,
  }),
  spinning('a file that is read over and over', () => file, { count: 30, tools: read('Read') }),
  spinning('a file that is read over and over, with other files between', () => file, {
    tools: read('Read'),
    between: (round) => (round * 2) % 5,
    other: otherRead,
  }),
  spinning('a file that is read again after each compaction and twice more', () => file, {
    tools: read('Read'),
    breaks: { 3: 'compaction', 6: 'compaction', 9: 'compaction' },
    source: 'openclaw#77474',
  }),
  spinning(
    'a poll without new output, 1535 times cut to 120',
    () => ok('process_poll', { id: 'p1' }, '(no new output)\n\nProcess still running.'),
    {
      count: 120,
      tools: read('process_poll'),
      source: 'openclaw#16808',
    },
  ),
  spinning(
    'a poll without new output, with its time',
    (index) =>
      ok('BashOutput', { bash_id: 'b9' }, `<status>running</status>\n\n<timestamp>${iso(index * 3)}</timestamp>`),
    { tools: read('BashOutput'), count: 22, breaks: { 8: 'compaction' } },
  ),
  spinning(
    'a pod that never starts',
    (index) =>
      ok(
        'kubectl_get',
        { resource: 'pods' },
        `NAME      READY   STATUS             RESTARTS   AGE\nweb-x2x   0/1     ImagePullBackOff   0          ${age(40 + index * 7)}`,
      ),
    { tools: read('kubectl_get'), count: 20 },
  ),
  spinning(
    'a pod that never starts, with commands between',
    (index) =>
      ok(
        'kubectl_get',
        { resource: 'pods' },
        `NAME      READY   STATUS             RESTARTS   AGE\nweb-x2x   0/1     ErrImagePull       0          ${age(400 + index * 31)}`,
      ),
    { tools: read('kubectl_get'), between: 3, other: otherShell, breaks: { 5: 'restart' } },
  ),
  spinning(
    'an empty result with its duration',
    (index) => ok('search_code', { q: 'frobnicate' }, `0 results (${seconds(index)} s)`),
    { tools: read('search_code'), between: (round) => round % 3 },
  ),
  spinning(
    'a list in changing colours, with its time',
    (index) =>
      ok('gh_run_list', { limit: 1 }, `${coloured('X', index)}  Fix router  CI  main  failure  ${clock(index * 5)}`),
    { tools: read('gh_run_list') },
  ),
  spinning(
    'a heartbeat in a log that says nothing else',
    (index) => ok('tail', { file: 'app.log', lines: 1 }, `${iso(index * 5)} INFO heartbeat ok`),
    { tools: read('tail'), breaks: { 2: 'compaction', 7: 'restart' } },
  ),
  spinning('a read that is empty', () => ok('list_dir', { path: '/repo/out' }, ''), {
    tools: read('list_dir'),
    between: 2,
    other: otherRead,
  }),
];
