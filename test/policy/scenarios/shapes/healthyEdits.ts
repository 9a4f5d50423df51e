import { failed, healthy, ok, times } from './build.ts';
import type { Shape, ShapeCall } from './shape.ts';
import { clock, hash, hex, millis, seconds, word } from './volatile.ts';

const edit = (index: number): ShapeCall =>
  ok(
    'Edit',
    {
      file_path: `/repo/src/${word(index)}.ts`,
      old_string: `retry(${index})`,
      new_string: `retry(${index}, { limit: ${index % 7} })`,
    },
    `The file /repo/src/${word(index)}.ts has been updated.`,
  );
const test = { command: 'npm test', description: 'Run the tests' };

/** Work that is checked after each change, with the same answer for long. */
export const healthyEdits: readonly Shape[] = [
  healthy(
    'tests that fail alike after each of forty edits',
    times(40, (index) => [
      edit(index),
      failed('Bash', test, `Exit code 1\n FAIL  test/router.test.ts > keeps the order\n Duration  ${seconds(index)}s`, {
        tookMs: 4200,
      }),
    ]),
  ),
  healthy(
    'tests that pass after each of forty edits, with times and seeds',
    times(40, (index) => [
      edit(index),
      ok(
        'Bash',
        test,
        ` Test Files  212 passed (212)\n      Tests  1840 passed (1840)\n   Start at  ${clock(index * 50)}\n   Duration  ${seconds(index)}s\n   Seed ${hash(index)}`,
      ),
    ]),
  ),
  healthy(
    'a deploy that fails alike after thirty different fixes',
    times(30, (index) => [
      edit(index),
      ok(
        'Bash',
        { command: `git commit -am "Try fix ${index}"` },
        `[main ${hex(index, 7)}] Try fix ${index}\n 1 file changed, 1 insertion(+), 1 deletion(-)`,
      ),
      failed(
        'Bash',
        { command: 'npx wrangler deploy' },
        'Exit code 1\n✘ [ERROR] A request to the Cloudflare API failed.',
        { tookMs: 6100 },
      ),
    ]),
  ),
  healthy(
    'an image that fails to build after each change of its file',
    times(28, (index) => [
      ok(
        'apply_patch',
        { patch: `*** Update File: Dockerfile\n-RUN apk add g++=${index}\n+RUN apk add g++=${index + 1}` },
        'Success. Updated the following files:\nM Dockerfile',
      ),
      failed(
        'shell',
        { command: ['docker', 'build', '.'] },
        `Process exited with code 1\nWall time: ${seconds(index, 1)} seconds\nERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1`,
      ),
    ]),
  ),
  healthy(
    'files whose first edit is not found, then read and edited',
    times(28, (index) => [
      failed(
        'Edit',
        { file_path: `/repo/src/f${index}.ts`, old_string: 'var a', new_string: 'let a' },
        'String to replace not found in file.\nString: var a',
      ),
      ok('Read', { file_path: `/repo/src/f${index}.ts` }, `1→  var  a = ${index};`),
      ok(
        'Edit',
        { file_path: `/repo/src/f${index}.ts`, old_string: 'var  a', new_string: 'let a' },
        `The file /repo/src/f${index}.ts has been updated.`,
      ),
    ]),
  ),
  healthy(
    'one file that is edited and read again, thirty times',
    times(30, (index) => [
      ok(
        'Edit',
        { file_path: '/repo/a.md', old_string: `v${index}`, new_string: `v${index + 1}` },
        'The file /repo/a.md has been updated.',
      ),
      ok('Read', { file_path: '/repo/a.md' }, `1→# Version v${index + 1}`),
    ]),
    { tools: { Read: { effect: 'readOnly' } } },
  ),
  healthy(
    'a linter that finds another thing after each fix',
    times(35, (index) => [
      edit(index),
      failed('Bash', { command: 'cargo clippy' }, `Exit code 101\nerror: unused variable: \`${word(index)}${index}\``, {
        tookMs: millis(index),
      }),
    ]),
  ),
  healthy(
    'a bisection with a script that fails or passes',
    times(30, (index) => [
      ok('Bash', { command: `git checkout ${hex(index, 10)}` }, `HEAD is now at ${hex(index, 7)} Change ${index}`),
      hash(index) % 3 === 0
        ? ok('Bash', { command: './repro.sh' }, 'ok')
        : failed('Bash', { command: './repro.sh' }, 'Exit code 1\nAssertionError: expected 3 to be 4'),
    ]),
  ),
  healthy(
    'a migration that is tried on thirty copies, changed each time',
    times(30, (index) => [
      ok(
        'Write',
        { file_path: '/repo/migrations/007.sql', content: `-- try ${index}\nALTER TABLE t ADD c${index} int;` },
        'The file /repo/migrations/007.sql has been updated.',
      ),
      failed('migrate', { to: '007' }, 'relation "t" does not exist', { tookMs: millis(index) }),
    ]),
    { tools: { migrate: { effect: 'mutating' } } },
  ),
];
