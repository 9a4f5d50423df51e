import { failed, ok, spinning } from './build.ts';
import { otherCall, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { clock, millis, seconds } from './volatile.ts';

const path = '/repo/src/app.ts';
const seen = ok('Read', { file_path: path }, "1→import { serve } from './serve.ts';\n2→serve(3000);");
const edit = failed(
  'Edit',
  { file_path: path, old_string: 'serve(8080)', new_string: 'serve(80)' },
  'String to replace not found in file.\nString: serve(8080)',
);
const multi = failed(
  'Edit',
  { file_path: path, old_string: 'serve', new_string: 'run' },
  'Found 2 matches of the string to replace, but replace_all is false.',
);
const snapshot = ok('browser_snapshot', {}, '- button "Pay" [ref=e7]');
const click = failed(
  'browser_click',
  { ref: 'e42' },
  'Error: Ref e42 not found in the current page snapshot. Try capturing new snapshot.',
);
const readOnly = { effect: 'readOnly' } as const;

/** Cycles of two calls. */
export const spinningPairs: readonly SpinningShape[] = [
  spinning('read, edit not found', () => [seen, edit], { count: 25 }),
  spinning('read, edit not found, the read declared', () => [seen, edit], {
    tools: { Read: readOnly },
    breaks: { 5: 'compaction' },
  }),
  spinning('read, edit not found, across a restart', () => [seen, edit], { breaks: { 8: 'restart' } }),
  spinning('read, edit not found, with three searches before', () => [seen, edit], {
    count: 13,
    between: 3,
    other: otherCall,
  }),
  spinning('read, another call, edit with two matches', (index) => [seen, otherShell(index), multi]),
  spinning('snapshot, click on what is gone', () => [snapshot, click], {
    tools: { browser_snapshot: readOnly },
    source: 'Playwright MCP',
  }),
  spinning(
    'snapshot, click on what is gone, undeclared, with others within',
    (index) => [snapshot, otherCall(index), otherShell(index), click],
    {
      breaks: { 3: 'restart', 6: 'compaction' },
    },
  ),
  spinning('tests that fail, a status that is clean', (index) => [
    failed('Bash', { command: 'npm test' }, `Exit code 1\n 1 failed in ${seconds(index)}s`, { tookMs: 1800 }),
    ok('Bash', { command: 'git status' }, 'nothing to commit, working tree clean'),
  ]),
  spinning(
    'two reads in turn that answer alike',
    (index) => [
      ok('list_runs', {}, `no runs (${clock(index * 4)})`),
      ok('list_jobs', {}, `no jobs (${millis(index)} ms)`),
    ],
    { tools: { list_runs: readOnly, list_jobs: readOnly }, source: 'gemini-cli PR #20056' },
  ),
  spinning(
    'install fails, start fails',
    (index) => [
      failed(
        'shell',
        { command: 'npm ci' },
        `Process exited with code 1\nWall time: ${seconds(index, 1)} seconds\nnpm error EUSAGE`,
      ),
      failed(
        'shell',
        { command: 'npm start' },
        `Process exited with code 127\nWall time: ${seconds(index + 1, 1)} seconds\nsh: vite: not found`,
      ),
    ],
    { breaks: { 9: 'compaction' } },
  ),
  spinning(
    'an undeclared pair of successes',
    () => [ok('open_page', { url: '/a' }, 'opened'), ok('open_page', { url: '/b' }, 'opened')],
    { count: 20 },
  ),
];
