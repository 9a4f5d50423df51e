import { by, failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { hex, word } from './volatile.ts';

const readme = ok('Read', { file_path: '/repo/README.md' }, '1→# Acme\n2→A shop.');
const reads = { tools: { Read: { effect: 'readOnly' } } } as const;
const missing = failed('Bash', { command: 'pnpm test' }, 'Exit code 127\n/bin/bash: line 1: pnpm: command not found');

/** Sub-agents, each of which counts apart, and sessions that begin anew. */
export const healthyAgents: readonly Shape[] = [
  healthy(
    'thirty sub-agents that read the same file once',
    times(30, (index) => by(`a${index}`, [readme])),
    reads,
  ),
  healthy(
    'ten sub-agents in turn that read the same file, eight times each',
    times(8, () => times(10, (index) => by(`a${index}`, [readme])).flat()),
    reads,
  ),
  healthy(
    'twelve sub-agents that fail alike, five times each',
    times(12, (index) =>
      by(
        `a${index}`,
        times(5, () => missing),
      ),
    ),
  ),
  healthy('two sub-agents in turn, each with seventeen equal failures before a success', [
    ...times(17, () => [...by('left', [missing]), ...by('right', [missing])]),
    ...by('left', [ok('Bash', { command: 'corepack enable' }, '')]),
    ...by('right', [ok('Bash', { command: 'npm i -g pnpm' }, 'added 1 package')]),
  ]),
  healthy(
    'an idempotent tool, called alike by forty sub-agents',
    times(40, (index) =>
      by(`a${index}`, [
        ok('ensure_bucket', { name: 'build' }, 'exists'),
        ok('ensure_bucket', { name: 'build' }, 'exists'),
      ]),
    ),
    { tools: { ensure_bucket: { effect: 'idempotent' } } },
  ),
  healthy(
    'four sub-agents that edit and test at once',
    times(28, (index) =>
      by(`a${index % 4}`, [
        ok(
          'Edit',
          { file_path: `/repo/p${index % 4}/a.ts`, old_string: `${index}`, new_string: `${index + 1}` },
          'updated',
        ),
        failed('Bash', { command: 'npm test' }, 'Exit code 1\n1 failed'),
      ]),
    ),
  ),
  healthy(
    'a main agent that hands on each fix and tests again',
    times(26, (index) => [
      ok(
        'Agent',
        { description: `Fix ${word(index)}`, prompt: `Fix the failure ${index} of ${word(index)}` },
        `Changed ${word(index)}${index}.ts, ${index + 2} lines.`,
      ),
      ...by(`fix${index}`, [
        ok('Edit', { file_path: `/repo/${word(index)}${index}.ts`, old_string: 'a', new_string: 'b' }, 'updated'),
      ]),
      failed('Bash', { command: 'npm test' }, 'Exit code 1\n 4 failed'),
    ]),
  ),
  healthy(
    'one short story by each of thirty equal calls',
    times(30, () =>
      ok('Agent', { description: 'Write', prompt: 'Write one short story to stories/' }, 'Story written.', {
        tookMs: 21_000,
      }),
    ),
  ),
  healthy(
    'a session that looks around after each of nine restarts',
    times(9, (index) => [
      'restart' as const,
      ok('git_status', {}, 'nothing to commit, working tree clean'),
      readme,
      ok('Write', { file_path: `/repo/n${index}.md`, content: `${index}` }, 'File created'),
      ok('git_commit', { message: `n${index}` }, hex(index, 7)),
    ]),
    { tools: { Read: { effect: 'readOnly' }, git_status: { effect: 'readOnly' } } },
  ),
  healthy(
    'a plan that is read again after each of ten compactions',
    times(10, (index) => [
      'compaction' as const,
      ok('Read', { file_path: '/repo/PLAN.md' }, '1→- port all'),
      ...times(9, (step) =>
        ok(
          'Write',
          { file_path: `/repo/src/${word(index)}/${step}.ts`, content: `${index}-${step}` },
          `created ${index}-${step}`,
        ),
      ),
    ]),
    reads,
  ),
];
