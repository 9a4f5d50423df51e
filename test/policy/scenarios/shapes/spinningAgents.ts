import { by, failed, ok, spinning } from './build.ts';
import { otherCall, otherRead } from './others.ts';
import type { ShapeCall, SpinningShape } from './shape.ts';
import { seconds, word } from './volatile.ts';

const missing = failed(
  'Bash',
  { command: 'make lint' },
  "Exit code 2\nmake: *** No rule to make target 'lint'.  Stop.",
);
const status = ok('git_status', {}, 'nothing to commit, working tree clean');
const from = (agent: string, ...calls: readonly ShapeCall[]) => by(agent, calls);
const reads = { tools: { git_status: { effect: 'readOnly' } } } as const;

/** Sub-agents that spin, and agents that start them again and again. */
export const spinningAgents: readonly SpinningShape[] = [
  spinning('a sub-agent that fails alike while the main agent works', (index) => [
    otherCall(index * 2),
    otherRead(index),
    ...from('lint', missing),
  ]),
  spinning('a sub-agent that looks at a clean tree, across a restart', () => from('review', status), {
    ...reads,
    breaks: { 6: 'restart' },
  }),
  spinning('two sub-agents in turn, both of which spin', () => [...from('left', missing), ...from('right', missing)], {
    count: 14,
  }),
  spinning(
    'a sub-agent with a cycle of two among three that work',
    (index) => [
      ...from('one', otherRead(index * 3)),
      ...from('stuck', ok('Read', { file_path: '/repo/a.ts' }, '1→a')),
      ...from('two', otherRead(index * 3 + 1)),
      ...from('three', otherCall(index * 3 + 2)),
      ...from(
        'stuck',
        failed(
          'Edit',
          { file_path: '/repo/a.ts', old_string: 'b', new_string: 'c' },
          'String to replace not found in file.',
        ),
      ),
    ],
    { breaks: { 4: 'compaction' } },
  ),
  spinning(
    'a main agent that starts the same sub-agent, which always gives up',
    (index) => [
      ...from(`try${index}`, otherRead(index), otherCall(index)),
      failed(
        'Agent',
        { description: 'Fix the build', prompt: 'Fix the build' },
        `Agent stopped: limit of turns reached after ${seconds(index)}s`,
      ),
    ],
    { count: 14 },
  ),
  spinning(
    'a main agent that starts a sub-agent in new words, which always fails alike',
    (index) => [
      ...from(`try${index}`, otherRead(index)),
      failed(
        'Agent',
        { description: `Fix, try ${index}`, prompt: `Look at ${word(index)} and fix the build` },
        'API Error: 400 prompt is too long',
      ),
    ],
    { breaks: { 7: 'compaction' } },
  ),
  spinning(
    'a sub-agent that starts a sub-agent that is refused',
    () =>
      from(
        'lead',
        failed('Agent', { prompt: 'Split the work' }, 'Sub-agents cannot start sub-agents.', { kind: 'invalid' }),
      ),
    { source: 'fak#3273' },
  ),
  spinning(
    'a sub-agent of a fixed name that begins anew after each failure',
    (index) => [
      ok('start_agent', { name: 'fixer', round: index }, `fixer started, round ${index}`),
      ...from('fixer', missing),
    ],
    { breaks: { 3: 'restart', 6: 'restart', 9: 'restart' } },
  ),
];
