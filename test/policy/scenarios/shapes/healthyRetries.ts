import { failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { hex, iso, word } from './volatile.ts';

/** Failures that are tried again with other arguments, or end in a success. */
export const healthyRetries: readonly Shape[] = [
  healthy('versions of a package, until one is there', [
    ...times(9, (index) =>
      failed(
        'Bash',
        { command: `npm install left-pad@${9 - index}.0.0` },
        `Exit code 1\nnpm error code ETARGET\nnpm error notarget No matching version found for left-pad@${9 - index}.0.0.`,
      ),
    ),
    ok('Bash', { command: 'npm install left-pad@1.3.0' }, 'added 1 package in 412ms'),
  ]),
  healthy('an edit with an ever shorter text, until it is found', [
    ...times(8, (index) =>
      failed(
        'Edit',
        {
          file_path: '/repo/src/a.ts',
          old_string: 'return await this.load(id);'.slice(0, 28 - index * 2),
          new_string: 'return cached;',
        },
        'String to replace not found in file.',
      ),
    ),
    ok(
      'Edit',
      { file_path: '/repo/src/a.ts', old_string: 'return this.load', new_string: 'return cached;' },
      'The file /repo/src/a.ts has been updated.',
    ),
  ]),
  healthy('a sign-in that is refused five times, then renewed', [
    ...times(5, () => failed('list_mail', {}, '401 Unauthorized: token expired', { kind: 'auth' })),
    ok('sign_in', {}, 'signed in'),
    ok('list_mail', {}, '3 messages'),
  ]),
  healthy('an upstream that is overloaded eighteen times', [
    ...times(18, (index) =>
      failed('complete', { prompt: 'x' }, `529 Overloaded (request id: req_${hex(index, 18)})`, { kind: 'transient' }),
    ),
    ok('complete', { prompt: 'x' }, 'done'),
  ]),
  healthy(
    'three calls that fail, each nine times, with a success after each',
    times(3, (index) => [
      ...times(9, () =>
        failed('Bash', { command: `make ${word(index)}` }, `Exit code 2\nmake: *** [${word(index)}] Error 1`),
      ),
      ok('Bash', { command: `make clean-${word(index)}` }, `rm -rf build/${word(index)}`),
      ok('Bash', { command: `make ${word(index)}` }, `built ${word(index)}`),
    ]),
  ),
  healthy(
    'a commit that is refused by a hook, after each of twenty formats',
    times(26, (index) => [
      ok(
        'Bash',
        { command: `npx prettier --write src/${word(index)}${index}.ts` },
        `src/${word(index)}${index}.ts ${20 + index}ms`,
      ),
      failed('Bash', { command: 'git commit -m "Format"' }, 'Exit code 1\nhusky - pre-commit script failed (code 1)'),
    ]),
  ),
  healthy('selectors that are tried on a page', [
    ...times(13, (index) =>
      failed(
        'browser_click',
        { selector: `[data-test="${word(index)}"]` },
        'TimeoutError: locator.click: Timeout 5000ms exceeded.',
        { kind: 'timeout', tookMs: 5004 },
      ),
    ),
    ok('browser_click', { selector: 'text=Pay' }, 'clicked'),
  ]),
  healthy(
    'a merge that conflicts in each of thirty branches',
    times(30, (index) => [
      failed(
        'Bash',
        { command: `git merge feature/${word(index)}-${index}` },
        `Exit code 1\nCONFLICT (content): Merge conflict in src/${word(index)}.ts`,
      ),
      ok('Bash', { command: 'git merge --abort' }, ''),
    ]),
  ),
  healthy(
    'requests to be approved by others, each refused with its reason',
    times(30, (index) =>
      failed('request_review', { change: 7 }, `Refused: ${word(index)}${index} is not covered (${iso(index * 400)})`),
    ),
  ),
];
