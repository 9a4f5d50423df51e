import { failed, ok, spinning } from './build.ts';
import { otherCall, otherRead, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { hex, millis, seconds, word } from './volatile.ts';

const shell = (command: string, message: string) => failed('shell', { command }, message);
const flags = [
  '',
  '--version',
  '-h',
  '--help',
  'list',
  '-la',
  '--all',
  'status',
  '.',
  '-v',
  '--json',
  '--verbose',
  'run',
];

/** The same tool with varying arguments and the same failure. */
export const spinningVaried: readonly SpinningShape[] = [
  spinning(
    'a listing of twenty-six folders, none of which is there',
    (index) =>
      shell(
        `ls /repo/packages/${word(index)}`,
        `ls: cannot access '/repo/packages/${word(index)}': No such file or directory`,
      ),
    { count: 26, source: 'gemini-cli PR #16954' },
  ),
  spinning(
    'a listing of folders, across a compaction and a restart',
    (index) =>
      failed(
        'list_directory',
        { path: `packages/${word(index)}` },
        `Error: ENOENT: no such file or directory, scandir '/repo/packages/${word(index)}'`,
      ),
    { count: 26, breaks: { 5: 'compaction', 9: 'restart' } },
  ),
  spinning(
    'a listing of folders, with other calls between',
    (index) =>
      failed(
        'list_directory',
        { path: `/srv/${word(index)}` },
        `Access denied - path outside allowed directories: /srv/${word(index)} not in /home/u/repo`,
      ),
    { between: (round) => round % 5, other: otherCall },
  ),
  spinning('a command that does not exist, with other flags', (index) =>
    failed(
      'Bash',
      { command: `rgg ${flags[index % flags.length]}`, description: `Try ${index}` },
      'Exit code 127\n/bin/bash: line 1: rgg: command not found',
    ),
  ),
  spinning(
    'a command that does not exist, with other flags and reads between, across a restart',
    (index) =>
      failed(
        'Bash',
        { command: `kubeclt get pods -n ${word(index)}` },
        'Exit code 127\n/bin/bash: line 1: kubeclt: command not found',
      ),
    { between: 2, other: otherRead, breaks: { 6: 'restart' } },
  ),
  spinning(
    'eight of ten fail alike',
    (index) => [
      ...(index % 4 === 3 ? [ok('Bash', { command: `echo ${index}` }, `${index}`)] : []),
      failed(
        'Bash',
        { command: `docker run acme/${word(index)}` },
        'Exit code 125\ndocker: Cannot connect to the Docker daemon.',
      ),
    ],
    { count: 24 },
  ),
  spinning(
    'old texts that vary, none of which is found',
    (index) =>
      failed(
        'Edit',
        { file_path: '/repo/src/app.ts', old_string: `const ${word(index)} = 1;`, new_string: 'x' },
        `String to replace not found in file.\nString: const ${word(index)} = 1;`,
      ),
    { breaks: { 4: 'compaction' } },
  ),
  spinning(
    'files that are guessed',
    (index) =>
      failed(
        'Read',
        { file_path: `/repo/src/${word(index)}/index.ts` },
        'File does not exist. Current working directory: /repo.',
      ),
    { between: 3, other: otherShell },
  ),
  spinning('queries of a wrong column, each echoed', (index) =>
    failed(
      'query',
      { sql: `SELECT ${word(index)}_id FROM t` },
      `ERROR: column "${word(index)}_id" does not exist (${millis(index)} ms)`,
    ),
  ),
  spinning(
    'arguments of a wrong shape, with a request id',
    (index) =>
      failed(
        'create_issue',
        { fields: { summary: word(index), rank: index } },
        `MCP error -32602: Invalid arguments for tool create_issue: "project" is required (request id: ${hex(index, 14)})`,
        { kind: 'invalid' },
      ),
    { count: 30, breaks: { 8: 'compaction' } },
  ),
  spinning(
    'addresses that are all refused, with durations',
    (index) =>
      failed(
        'fetch',
        { url: `https://intern.acme.test/${word(index)}` },
        `getaddrinfo ENOTFOUND intern.acme.test after ${seconds(index)}s`,
      ),
    { between: 1 },
  ),
  spinning(
    'packages that are asked of a registry that refuses the key',
    (index) =>
      failed('npm_view', { name: `@acme/${word(index)}` }, '401 Unauthorized: authentication token not provided', {
        kind: 'auth',
      }),
    { count: 20, between: 4, other: otherRead },
  ),
];
