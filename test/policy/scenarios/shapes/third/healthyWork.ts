import { failed, healthy, ok, times } from '../build.ts';
import type { Shape } from '../shape.ts';
import { base62, hex, iso, num, uuid } from './make.ts';

const readOnly = { effect: 'readOnly' } as const;

/** Work that repeats itself and is well. */
export const healthyWork: readonly Shape[] = [
  healthy(
    'arrow keys',
    times(40, () => ok('press_key', { key: 'ArrowDown' }, 'ok')),
  ),
  healthy(
    'the next page',
    times(40, () => ok('browser_click', { ref: 'next' }, '### Ran Playwright code\nawait page.click()')),
  ),
  healthy(
    'the state of a tree that is clean',
    times(30, () => ok('Bash', { command: 'git status' }, 'nothing to commit, working tree clean')),
  ),
  healthy(
    'an empty poll of a long command of Codex',
    times(40, (k) =>
      ok(
        'write_stdin',
        { session_id: 3, chars: '' },
        `Chunk ID: ${hex(k, 6)}\nWall time: 5.0012 seconds\nProcess running with session ID 3\nOutput:\n`,
      ),
    ),
  ),
  healthy(
    'a shell that is looked at',
    times(30, (k) => ok('BashOutput', { bash_id: 'a' }, `<status>running</status>\n<stdout>\nbuilt ${k}\n</stdout>`)),
  ),
  healthy(
    'lists of things to do',
    times(30, (k) =>
      ok(
        'TodoWrite',
        { todos: [{ content: `step ${k}`, status: 'completed' }] },
        'Todos have been modified successfully.',
      ),
    ),
  ),
  healthy(
    'ids that are drawn',
    times(30, (k) => ok('uuid__new', {}, uuid(k))),
  ),
  healthy(
    'searches without a match',
    times(40, (k) => ok('Grep', { pattern: `TODO ${base62(k, 5)}` }, 'No matches found')),
    { tools: { Grep: readOnly } },
  ),
  healthy(
    'empty files',
    times(40, (k) =>
      ok(
        'Read',
        { file_path: `/repo/${k}.txt` },
        '<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>',
      ),
    ),
    { tools: { Read: readOnly } },
  ),
  healthy(
    'a file written again and again',
    times(40, (k) =>
      ok('Write', { file_path: '/repo/a.ts', content: `${k}` }, 'The file /repo/a.ts has been updated successfully.'),
    ),
  ),
  healthy(
    'pages by a cursor',
    times(40, (k) => ok('notion__query', { cursor: base62(k, 12) }, '{"results":[],"has_more":true}')),
    { tools: { notion__query: readOnly } },
  ),
  healthy(
    'health while work is done',
    times(30, (k) => [
      ok('http__get', { url: '/health' }, `{"status":"ok","time":"${iso(k)}"}`),
      ok('deploy__next', { n: k }, `deployed ${k}`),
    ]).flat(),
  ),
  healthy(
    'two readings between other work, seldom',
    times(10, (k) => [
      ok('Read', { file_path: '/repo/plan.md' }, '1→Plan'),
      ...times(5, (n) =>
        ok(
          'Edit',
          { file_path: `/repo/${k}-${n}.ts`, old_string: 'a', new_string: 'b' },
          `The file /repo/${k}-${n}.ts has been updated.`,
        ),
      ),
    ]).flat(),
    { tools: { Read: readOnly } },
  ),
  healthy(
    'a bisection',
    times(14, (k) =>
      ok(
        'Bash',
        { command: 'git bisect bad' },
        `Bisecting: ${8192 >> k} revisions left to test after this\n[${hex(k, 40)}] change ${k}`,
      ),
    ),
  ),
  healthy(
    'edits that fail and are made at the second try',
    times(20, (k) => [
      failed(
        'Edit',
        { file_path: `/repo/${k}.ts`, old_string: `a${k}`, new_string: 'b' },
        `String to replace not found in file.\nString: a${k}`,
      ),
      ok('Read', { file_path: `/repo/${k}.ts` }, `1→b${k}`),
      ok(
        'Edit',
        { file_path: `/repo/${k}.ts`, old_string: `b${k}`, new_string: 'b' },
        `The file /repo/${k}.ts has been updated.`,
      ),
    ]).flat(),
  ),
  healthy(
    'a long command that times out, ten minutes each',
    times(8, () =>
      failed('Bash', { command: './wait-for-gpu' }, 'Command timed out after 10m 0s', {
        kind: 'timeout',
        tookMs: 600_000,
      }),
    ),
  ),
  healthy(
    'messages that are taken from a queue',
    times(40, (k) => ok('queue__take', {}, `{"messageId":"${uuid(k)}","body":"resize"}`)),
  ),
  healthy(
    'dice',
    times(40, (k) => ok('dice__roll', { sides: 6 }, String(num(k, 1, 7)))),
  ),
];
