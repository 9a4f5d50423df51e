import { ok, spinning } from './build.ts';
import { otherRead, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { clock, hex, seconds } from './volatile.ts';

const paragraph =
  'I see the problem now. The router keeps a stale reference, so the next step is to look at the router again.';

/** Equal successes of tools of which nothing is declared: noticed, and no more than that. */
export const spinningSuccesses: readonly SpinningShape[] = [
  spinning(
    'a poll without new output, undeclared',
    (index) =>
      ok(
        'write_stdin',
        { session_id: 7, chars: '' },
        `Wall time: ${seconds(index, 4)} seconds\nProcess running with session ID 7\nOutput:\n`,
      ),
    { count: 60, source: 'Codex' },
  ),
  spinning(
    'a poll without new output, undeclared, across a compaction',
    () => ok('BashOutput', { bash_id: 'b3' }, '<status>running</status>'),
    { breaks: { 6: 'compaction' } },
  ),
  spinning('a status in a shell', () => ok('Bash', { command: 'git status --short' }, ' M src/app.ts'), {
    count: 40,
    source: 'openclaw#54559',
  }),
  spinning(
    'a status in a shell, with reads between',
    () => ok('Bash', { command: 'git status --short' }, ' M src/app.ts'),
    {
      between: (round) => 4 - (round % 5),
      other: otherRead,
    },
  ),
  spinning(
    'the same list of todos',
    () =>
      ok(
        'TodoWrite',
        { todos: [{ content: 'Fix the router', status: 'in_progress', activeForm: 'Fixing the router' }] },
        'Todos have been modified successfully.',
      ),
    { breaks: { 4: 'restart' } },
  ),
  spinning('a thought that is thought again', () =>
    ok('think', { thought: paragraph }, 'Your thought has been logged.'),
  ),
  spinning('a paragraph that is said again and again', () => ok('say', { text: paragraph }, 'shown'), {
    count: 30,
    source: 'gemini-cli',
  }),
  spinning(
    'a paragraph that is said again, with commands between, across a restart',
    (index) => ok('say', { text: paragraph }, `shown at ${clock(index * 12)}`),
    { between: 2, other: otherShell, breaks: { 7: 'restart' } },
  ),
  spinning(
    'a file that is written again with the same content',
    (index) => ok('write_file', { path: 'a.ts', content: 'export {};' }, `File written (request id ${hex(index, 10)})`),
    { between: 1 },
  ),
];
