import { failed, ok, spinning } from './build.ts';
import { otherRead, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { seconds } from './volatile.ts';

type Entries = readonly (readonly [string, unknown])[];

/** Turns the keys of arguments, which stay the same. */
const turned = (entries: Entries, by: number): Record<string, unknown> => {
  const from = by % entries.length;
  return Object.fromEntries([...entries.slice(from), ...entries.slice(0, from)]);
};

const query: Entries = [
  ['table', 'orders'],
  ['where', 'state = open'],
  ['limit', 10],
];
const nested = (index: number): Record<string, unknown> => ({
  ...(index % 2 === 0
    ? { method: 'POST', body: turned(query, index) }
    : { body: turned(query, index), method: 'POST' }),
  url: 'http://localhost:3000/query',
});
const reasons = [
  'Build the app',
  'Try the build again',
  'Run the build',
  'Build once more',
  'Check whether it builds now',
];

/** Calls that look different and are the same. */
export const spinningArguments: readonly SpinningShape[] = [
  spinning('keys in another order, the same failure', (index) =>
    failed('query_rows', turned(query, index), 'column "state" does not exist'),
  ),
  spinning(
    'keys in another order within the arguments, across a restart',
    (index) =>
      failed('http_request', nested(index), `400 Bad Request: unknown field "where" (${seconds(index)}s)`, {
        kind: 'invalid',
      }),
    { breaks: { 5: 'restart' } },
  ),
  spinning(
    'keys in another order, a declared read with an equal answer',
    (index) => ok('query_rows', turned(query, index + 1), '[]'),
    { tools: { query_rows: { effect: 'readOnly' } }, between: 3, other: otherShell },
  ),
  spinning(
    'a description that varies, the same failure',
    (index) =>
      failed(
        'Bash',
        { command: 'npm run biuld', description: reasons[index % reasons.length] },
        'Exit code 1\nnpm error Missing script: "biuld"',
      ),
    { count: 25 },
  ),
  spinning(
    'a description that is new each time, across a compaction',
    (index) =>
      failed(
        'Bash',
        { command: 'pip install -r requirments.txt', description: `Install requirements, try ${index + 1}` },
        'Exit code 1\nERROR: Could not open requirements file',
      ),
    { breaks: { 6: 'compaction' } },
  ),
  spinning(
    'a description that is new each time, with reads between',
    (index) =>
      failed(
        'Bash',
        { description: `Step ${index}: start the server`, command: 'node dist/serve.js' },
        "Exit code 1\nError: Cannot find module '/repo/dist/serve.js'",
      ),
    { between: (round) => round % 5, other: otherRead },
  ),
  spinning('a timeout that varies, the same failure', (index) =>
    failed(
      'Bash',
      { command: './gradlew tset', timeout: 10_000 + index * 5000 },
      "Exit code 1\nProject 'tset' not found in root project 'acme'.",
    ),
  ),
  spinning(
    'a new text that varies where the old one is not found',
    (index) =>
      failed(
        'Edit',
        { file_path: '/repo/a.ts', old_string: 'retries: 3', new_string: `retries: ${index + 4}` },
        'String to replace not found in file.\nString: retries: 3',
      ),
    { breaks: { 3: 'restart', 9: 'compaction' }, between: 1 },
  ),
];
