import { failed, healthy, ok, times } from './build.ts';
import type { Shape, ShapeCall } from './shape.ts';
import { clock, hex, seconds, word } from './volatile.ts';

const write = (index: number): ShapeCall =>
  ok('write_file', { path: `src/${word(index)}${index}.ts`, content: `export const n = ${index};` }, 'File written');
const commit = (index: number): ShapeCall =>
  ok('git_commit', { message: `Add ${word(index)} ${index}` }, `[main ${hex(index, 7)}] Add ${word(index)} ${index}`);

/** Declared reads that answer alike, each after other work. */
export const healthyChecks: readonly Shape[] = [
  healthy(
    'a clean tree after each of thirty commits',
    times(30, (index) => [
      write(index),
      ok('run_tests', {}, `1840 passed in ${seconds(index)} s`),
      commit(index),
      ok('git_status', { repo_path: '/repo' }, 'On branch main\nnothing to commit, working tree clean'),
    ]),
    { tools: { git_status: { effect: 'readOnly' } } },
  ),
  healthy(
    'diagnostics that stay empty after each of twenty-five writes',
    times(25, (index) => [
      write(index),
      ok('read_file', { path: `src/${word(index)}${index}.ts` }, `export const n = ${index};`),
      ok('format', { path: `src/${word(index)}${index}.ts` }, 'formatted'),
      ok('get_diagnostics', {}, '[]'),
    ]),
    { tools: { get_diagnostics: { effect: 'readOnly' }, read_file: { effect: 'readOnly' } } },
  ),
  healthy(
    'a style guide that is read before each chapter',
    times(24, (index) => [
      ok('read_file', { path: 'docs/style.md' }, '# Style\nShort sentences.'),
      ok('read_file', { path: `notes/${index}.md` }, `Notes ${index} on ${word(index)}`),
      ok('write_file', { path: `book/${index}.md`, content: `# ${word(index)}` }, 'File written'),
      ok('spell_check', { path: `book/${index}.md` }, 'No mistakes.'),
    ]),
    { tools: { read_file: { effect: 'readOnly' } } },
  ),
  healthy(
    'a plan without changes after each refactoring',
    times(25, (index) => [
      ok('read_file', { path: `modules/${word(index)}${index}/main.tf` }, `resource "aws_s3_bucket" "b${index}" {}`),
      ok(
        'write_file',
        { path: `modules/${word(index)}${index}/main.tf`, content: `moved { from = b${index} }` },
        'File written',
      ),
      ok('terraform_fmt', { dir: `modules/${word(index)}${index}` }, ''),
      ok('terraform_plan', {}, `No changes. Your infrastructure matches the configuration.\nTook ${seconds(index)}s`),
    ]),
    { tools: { terraform_plan: { effect: 'readOnly' }, read_file: { effect: 'readOnly' } } },
  ),
  healthy(
    'the same tests, flaky: fifteen of forty fail alike',
    times(40, (index) =>
      [1, 2, 5, 8, 9, 13, 16, 18, 21, 24, 25, 29, 33, 36, 38].includes(index)
        ? failed(
            'Bash',
            { command: 'npx vitest run test/race.test.ts' },
            `Exit code 1\nExpected 2 to be 3\nSeed ${index}`,
          )
        : ok('Bash', { command: 'npx vitest run test/race.test.ts' }, `1 passed (${seconds(index)}s)`),
    ),
  ),
  healthy('a reproduction that fails nineteen times in a row and then passes', [
    ...times(19, () => failed('Bash', { command: './stress.sh' }, 'Exit code 139\nSegmentation fault (core dumped)')),
    ok('Bash', { command: './stress.sh' }, 'ok'),
  ]),
  healthy(
    'a baseline that is measured twice around each change',
    times(20, (index) => [
      ok('bench', { name: 'parse' }, `${70 + index} ops/s`),
      write(index),
      ok('bench', { name: 'parse' }, `${71 + index} ops/s`),
    ]),
    { tools: { bench: { effect: 'readOnly' } } },
  ),
  healthy(
    'the list of things to do, written anew after each of them',
    times(45, (index) =>
      ok(
        'TodoWrite',
        {
          todos: times(6, (item) => ({
            content: `Port ${word(item)}`,
            status: item < index / 8 ? 'completed' : 'pending',
            activeForm: `Step ${index}`,
          })),
        },
        'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.',
      ),
    ),
  ),
  healthy(
    'the same todos, saved after each file',
    times(40, (index) => [
      write(index),
      ok('save_todos', { todos: ['port', 'test'] }, `saved at ${clock(index * 31)}`),
    ]),
  ),
];
