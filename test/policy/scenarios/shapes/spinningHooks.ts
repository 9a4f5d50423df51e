import { failed, ok, spinning } from './build.ts';
import { otherRead, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { clock, seconds } from './volatile.ts';

const refused = 'Stop hook feedback:\nThe work is not finished, go on.';
const summary = { result: 'All is done.' };
const blocked = failed(
  'Bash',
  { command: 'git push --force' },
  'PreToolUse:Bash hook error: [guard.sh]: pushes by force are blocked',
);
const denied = failed(
  'Write',
  { file_path: '/etc/hosts', content: '127.0.0.1 a' },
  "EACCES: permission denied, open '/etc/hosts'",
  { kind: 'auth' },
);

/** Ends that are refused each time, and rules that block each time. */
export const spinningHooks: readonly SpinningShape[] = [
  spinning('an end that a hook refuses each time', () => failed('Stop', {}, refused), { count: 30 }),
  spinning('an end that a hook refuses, across a compaction', () => failed('Stop', {}, refused), {
    breaks: { 5: 'compaction' },
  }),
  spinning('an end that a hook refuses, with reads between, across a restart', () => failed('Stop', {}, refused), {
    between: (round) => round % 4,
    other: otherRead,
    breaks: { 8: 'restart' },
  }),
  spinning('a completion that is refused as the tests fail', (index) => [
    ok('execute_command', { command: 'npm test' }, `1 failed (${seconds(index)} s)`),
    failed('attempt_completion', summary, 'Completion refused: tests fail.'),
  ]),
  spinning(
    'a status of done that is sent back',
    (index) => ok('report_done', summary, `not accepted at ${clock(index * 20)}: continue`),
    { between: 1 },
  ),
  spinning('a call that a rule blocks', () => blocked, { between: 2, other: otherShell }),
  spinning('a write that is denied, across two restarts', () => denied, { breaks: { 3: 'restart', 7: 'restart' } }),
  spinning(
    'a connection that is closed',
    () => failed('list_tables', {}, 'MCP error -32000: Connection closed', { kind: 'transient' }),
    {
      breaks: { 6: 'restart' },
    },
  ),
  spinning(
    'a tool that is not known',
    () => failed('search_web', { q: 'x' }, 'Error: No such tool available: search_web', { kind: 'invalid' }),
    {
      between: 4,
      count: 12,
    },
  ),
];
