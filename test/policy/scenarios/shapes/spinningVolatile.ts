import { failed, spinning } from './build.ts';
import { otherCall } from './others.ts';
import type { SpinningShape } from './shape.ts';
import { clock, coloured, epoch, hash, hex, iso, millis, pid, seconds, uuid } from './volatile.ts';

const blank = (index: number): string => ' '.repeat(1 + (hash(index) % 4));

/** The same error with parts that change by themselves. */
export const spinningVolatile: readonly SpinningShape[] = [
  spinning('a failure with another request id each time', (index) =>
    failed('create_ticket', { title: 'x' }, `500 Internal Server Error (request id: req_${hex(index, 24)})`),
  ),
  spinning(
    'a failure with a request id as a uuid, across a compaction',
    (index) =>
      failed('query_metrics', { range: 'last week' }, `Bad request: unknown range. x-request-id: ${uuid(index)}`, {
        kind: 'invalid',
      }),
    { breaks: { 5: 'compaction' } },
  ),
  spinning('a failure with a process id', (index) =>
    failed('shell', { command: ['node', 'server.js'] }, `(node:${pid(index)}) Error: Cannot find module 'express'`),
  ),
  spinning(
    'a crash with a named pid and other calls between',
    (index) => failed('start_worker', { name: 'mail' }, `worker crashed: pid ${pid(index)}, signal SIGSEGV`),
    { between: 3 },
  ),
  spinning('a failure with a duration in its first line', (index) =>
    failed('run_sql', { sql: 'SELEC 1' }, `ERROR: syntax error at or near "SELEC" (took ${millis(index)} ms)`),
  ),
  spinning(
    'a failure with the count of its attempt',
    (index) => failed('deploy', { target: 'staging' }, `Deploy failed on attempt ${index + 1}: invalid manifest`),
    { breaks: { 6: 'restart' } },
  ),
  spinning('a failure with an attempt of so many', (index) =>
    failed(
      'fetch_schema',
      { url: 'http://localhost:4000/graphql' },
      `[attempt ${(index % 3) + 1}/3] schema is not valid: missing Query`,
    ),
  ),
  spinning('a failure in changing colours', (index) =>
    failed(
      'Bash',
      { command: 'npx tsx run.ts' },
      `${coloured('Error', index)}: Cannot find package ${coloured("'zodd'", index + 1)} imported from /repo/run.ts`,
    ),
  ),
  spinning(
    'a failure with changing white space',
    (index) =>
      failed(
        'lint',
        { path: '.' },
        `${blank(index)}Error:${blank(index + 1)}no configuration was found${blank(index + 2)}\r\n`,
        { kind: 'invalid' },
      ),
    { between: (round) => round % 3 },
  ),
  spinning(
    'a failure with a time before it',
    (index) => failed('terraform_plan', { dir: 'infra' }, `${iso(index * 4)} [ERROR] Unsupported argument "regions"`),
    { breaks: { 3: 'compaction', 8: 'restart' } },
  ),
  spinning(
    'a failure with a time of day in brackets',
    (index) =>
      failed('gradle', { goal: 'assemble' }, `[${clock(index * 11)}] FAILURE: Build failed with an exception.`),
    { between: 2, other: otherCall },
  ),
  spinning(
    'a shell with a wall time',
    (index) =>
      failed(
        'exec_command',
        { cmd: 'pytest -q', workdir: '/repo' },
        `Wall time: ${seconds(index, 1)} seconds\nProcess exited with code 1\nOutput:\nbash: pytest: command not found`,
      ),
    { source: 'Codex', count: 26 },
  ),
  spinning(
    'a shell whose code comes first, then its wall time',
    (index) =>
      failed(
        'shell_command',
        { command: 'make all' },
        `Process exited with code 2\nWall time: ${seconds(index, 4)} seconds\nmake: *** No rule to make target 'all'.  Stop.`,
      ),
    { source: 'Codex', between: 4, count: 12 },
  ),
  spinning(
    'a shell with the id of its chunk',
    (index) =>
      failed(
        'exec_command',
        { cmd: 'cargo biuld' },
        `Chunk ID: ${hex(index, 6)}\nWall time: ${seconds(index, 4)} seconds\nProcess exited with code 101\nOutput:\nerror: no such command: \`biuld\``,
      ),
    { source: 'Codex' },
  ),
  spinning('a failure with a timestamp as a number, in JSON', (index) =>
    failed(
      'post_event',
      { kind: 'x' },
      `{"error":"schema_mismatch","timestamp":${epoch(index * 6)},"requestId":"${hex(index, 16)}"}`,
      { kind: 'invalid' },
    ),
  ),
  spinning(
    'a failure with all that changes',
    (index) =>
      failed(
        'run_job',
        { job: 'import' },
        `${coloured(iso(index * 9), index)} ${blank(index)}[pid ${pid(index)}] job failed after ${seconds(index)}s (attempt ${index + 1}, request_id=${hex(index, 12)}): disk quota exceeded`,
      ),
    { between: (round) => (round % 2) * 4, breaks: { 4: 'compaction', 7: 'restart' } },
  ),
  spinning(
    'a click that times out after five seconds',
    () =>
      failed('browser_click', { element: 'Pay', ref: 'e42' }, 'TimeoutError: locator.click: Timeout 5000ms exceeded.', {
        kind: 'timeout',
        tookMs: 5003,
      }),
    { source: 'Playwright MCP' },
  ),
  spinning(
    'a failure whose date is written as words',
    (index) =>
      failed('send_mail', { to: 'a@acme.test' }, `Mon, 02 Mar 2026 ${clock(index * 8)} GMT: mailbox does not exist`),
    { between: 1 },
  ),
];
