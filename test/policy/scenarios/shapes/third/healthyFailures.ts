import { by, failed, healthy, ok, times } from '../build.ts';
import type { Shape, ShapeCall } from '../shape.ts';
import { base62, clock, hex, iso, millis, num, seconds } from './make.ts';

const edit = (index: number): ShapeCall =>
  ok(
    'Edit',
    { file_path: '/repo/src/a.ts', old_string: `old ${index}`, new_string: `new ${index}` },
    `The file /repo/src/a.ts has been updated. (${index})`,
  );

/** Rounds of an edit and a check that fails otherwise each time. */
const mended = (name: string, command: string, message: (index: number) => string, count = 26): Shape =>
  healthy(
    name,
    times(count, (k) => [edit(k), failed('Bash', { command }, `Exit code 1\n${message(k)}`)]),
  );

/** Failures that are work: each tells of something else, or of a wait. */
export const healthyFailures: readonly Shape[] = [
  mended(
    'compiler errors that move to line and column like a time',
    'npx tsc --noEmit',
    (k) => `src/a.ts:${10 + k}:${num(k, 10, 59)} - error TS2322: Type 'string' is not assignable to type 'number'.`,
  ),
  mended(
    'compiler errors in brackets',
    'npx tsc --noEmit -p .',
    (k) => `src/a.ts(${10 + 3 * k},5): error TS2304: Cannot find name 'x'.`,
  ),
  mended('fewer errors each time', 'npx eslint .', (k) => `✖ ${60 - k} problems (${60 - k} errors, 0 warnings)`),
  mended(
    'fewer failing tests each time',
    'npx vitest run',
    (k) =>
      ` Test Files  1 failed (1)\n      Tests  ${40 - k} failed | ${k} passed (40)\n   Start at  ${clock(k)}\n   Duration  ${seconds(k)}s`,
  ),
  mended('another value each time', 'pytest -q', (k) => `E       assert ${k * 3} == 100\n1 failed in ${seconds(k)}s`),
  mended(
    'another borrow each time',
    'cargo check',
    (k) => `error[E0502]: cannot borrow as mutable\n --> src/main.rs:${20 + k}:9`,
  ),
  mended('another target each time', 'make', (k) => `make: *** [Makefile:${3 + k}: all] Error 1`),
  mended(
    'another status each time',
    'curl -f http://127.0.0.1:3000',
    (k) => `curl: (22) The requested URL returned error: ${400 + k}`,
  ),
  mended(
    'another counterexample each time',
    'npm run fuzz',
    (k) =>
      `Property failed after ${num(k, 1, 100)} tests\nCounterexample: [${num(k, 0, 99)}, ${num(k, 0, 99, 2)}, ${k}]`,
  ),
  mended('another input that crashes', './fuzz', (k) => `Test unit written to ./crash-${hex(k, 40)}`),
  mended('a module less each time', 'node a.js', (k) => `Error: Cannot find module 'package-${k}'`),
  mended('more bytes each time', 'npx size-limit', (k) => `Package size limit has exceeded by ${300 - k * 7} B`),
  mended(
    'coverage that grows',
    'npm run coverage',
    (k) => `ERROR: Coverage for lines (${(61.2 + k).toFixed(2)}%) does not meet global threshold (90%)`,
  ),
  mended(
    'the same test after each of twelve edits',
    'npx vitest run b.test.ts',
    (k) => `AssertionError: expected 1 to be 2\n Duration  ${seconds(k)}s`,
    12,
  ),
  mended(
    'a score that nears its limit',
    'npm run lighthouse',
    (k) => `Assertion failed: performance ${50 + k}/100 below 90/100`,
  ),
  mended(
    'an expected version that moves',
    'npm run migrate',
    (k) => `conflict: expected version ${k}, found version ${k + 1}`,
  ),
  mended(
    'the address in use is another',
    'npm start',
    (k) => `Error: listen EADDRINUSE: address already in use :::${3000 + k}`,
  ),
  mended('lines left to translate', 'npm run i18n', (k) => `${900 - k * 30} keys missing in de.json`),
  mended(
    'a run of vitest with its header',
    'npx vitest run',
    (k) =>
      `\n RUN  v4.1.12 /repo\n\n ❯ a.test.ts (40 tests | ${40 - k} failed) ${millis(k)}ms\n   × case ${k} ${millis(k + 1)}ms\n AssertionError: expected ${k} to be 2`,
  ),
  mended(
    'a run of pytest with its header',
    'pytest',
    (k) =>
      `============================= test session starts ==============================\nplatform linux -- Python 3.11.7, pytest-9.0.3, pluggy-1.6.0\nrootdir: /repo\ncollected 40 items\n\nE       assert ${k} == 100\n${40 - k} failed in ${seconds(k)}s`,
  ),
  mended(
    'a build of cargo with its header',
    'cargo build',
    (k) => `   Compiling cr v0.1.0 (/repo)\nerror[E0308]: mismatched types\n --> src/main.rs:${20 + k}:9`,
  ),
  mended(
    'a script of npm with its header',
    'npm test',
    (k) => `\n> p@1.0.0 test\n> node t.js\n\nError: case ${k} failed\n    at t.js:${k}:3`,
  ),
  mended(
    'a run of node --test with its header',
    'node --test',
    (k) => `TAP version 13\n# Subtest: a\nnot ok 1 - a\n  duration_ms: ${seconds(k)}\n  error: '${k} == 40'\n# fail 1`,
  ),
  mended(
    'a traceback of Python',
    'python3 a.py',
    (k) =>
      `Traceback (most recent call last):\n  File "/repo/a.py", line 3, in <module>\n    main()\n  File "/repo/a.py", line ${20 + k}, in main\nNameError: name 'x${k}' is not defined`,
  ),
  mended(
    'an error that node did not catch',
    'node a.js',
    (k) =>
      `node:events:502\n      throw er; // Unhandled 'error' event\n      ^\n\nError: case ${k} is not handled\n    at a.js:${k}:1`,
  ),
  mended(
    'a run of make with its command',
    'make test',
    (k) => `gcc -o a a.c\na.c: In function 'main':\na.c:${10 + k}:5: error: 'x${k}' undeclared`,
  ),
  healthy('a wait that a service names', [
    ...times(18, (k) =>
      failed('github__search', { q: 'x' }, `API rate limit exceeded. Retry after ${num(k, 20, 60)} seconds.`, {
        kind: 'rate_limit',
      }),
    ),
    ok('github__search', { q: 'x' }, '3 results'),
  ]),
  healthy(
    'a moment that a service names',
    times(18, () =>
      failed('quota__use', { n: 1 }, 'Too many requests, try again at 2026-11-30T11:00:00Z', { kind: 'rate_limit' }),
    ),
  ),
  healthy('a server that boots', [
    ...times(9, (k) =>
      failed(
        'Bash',
        { command: 'curl -sf http://127.0.0.1:3000/health' },
        `Exit code 7\ncurl: (7) Failed to connect to 127.0.0.1 port 3000 after ${millis(k)} ms: Couldn't connect to server`,
      ),
    ),
    ok('Bash', { command: 'curl -sf http://127.0.0.1:3000/health' }, 'ok'),
  ]),
  healthy(
    'a poll that is declared and not there yet',
    times(40, (k) => failed('build__artifact', { id: 7 }, `404 not ready at ${iso(k)}`)),
    { tools: { build__artifact: { poll: true } } },
  ),
  healthy(
    'a probe whose repetition is allowed',
    times(40, () => failed('chaos__hit', { port: 1 }, 'connection refused')),
    { tools: { chaos__hit: { repeats: 'allowed' } } },
  ),
  healthy(
    'ten sub-agents that each try the same thing twice',
    times(10, (agent) =>
      by(
        `agent${agent}`,
        times(2, () => failed('Bash', { command: 'pnpm -v' }, 'Exit code 127\npnpm: command not found')),
      ),
    ).flat(),
  ),
  healthy(
    'rows that are refused, each for its own value',
    times(40, (k) => failed('crm__import', { row: k }, `row ${k}: e-mail address is taken`)),
  ),
  healthy(
    'orders not found, each its own',
    times(40, (k) => failed('shop__order', { id: 1000 + k }, `Order ${1000 + k} not found`)),
  ),
  healthy(
    'keys not found, each its own',
    times(30, (k) => failed('kv__get', { key: base62(k, 12) }, `no value for ${base62(k, 12)}`)),
  ),
  healthy(
    'a flaky test that fails three times and passes',
    times(8, (k) => [
      ...times(3, (n) =>
        failed(
          'Bash',
          { command: `npx vitest run t${k}` },
          `Exit code 1\nTimeoutError: page.goto: Timeout 5000ms exceeded (${millis(k + n)}ms)`,
        ),
      ),
      ok('Bash', { command: `npx vitest run t${k}` }, `1 passed ${millis(k)}ms`),
    ]).flat(),
  ),
];
