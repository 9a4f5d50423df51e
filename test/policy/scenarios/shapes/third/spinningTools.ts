import { failed, ok, spinning } from '../build.ts';
import type { SpinningShape } from '../shape.ts';
import {
  base32,
  base62,
  bash,
  clock,
  fails,
  fraction,
  hex,
  iso,
  millis,
  moment,
  num,
  pid,
  reads,
  seconds,
  uuid,
} from './make.ts';

const words = ['parser', 'router', 'cache', 'store', 'clock', 'budget', 'queue', 'lexer', 'schema', 'mailer', 'cursor'];
const word = (index: number): string => `${words[index % words.length]}${Math.floor(index / words.length) || ''}`;
const inZone = (locale: string, index: number, options: Intl.DateTimeFormatOptions = {}): string =>
  moment(index).toLocaleString(locale, { timeZone: 'Europe/Berlin', ...options });

const duration = (index: number): string =>
  [
    `${num(index, 2, 9)} minutes and ${num(index, 2, 59)} seconds`,
    `${num(index, 100, 900)} milliseconds`,
    `${num(index, 2, 59)} secs`,
    `${num(index, 2, 9)}m ${num(index, 2, 59)}s`,
  ][index % 4] ?? '';

/** Tools of agents and of MCP servers, cycles, varied arguments, and times in many spellings. */
export const spinningTools: readonly SpinningShape[] = [
  fails(
    'a command of Codex',
    'exec_command',
    { cmd: 'make check' },
    (k) =>
      `Chunk ID: ${hex(k, 6)}\nWall time: 0.${fraction(k, 4)} seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\nmake: *** No rule to make target 'check'.  Stop.\n`,
  ),
  fails(
    'a command of Gemini',
    'run_shell_command',
    { command: 'tox' },
    (k) =>
      `Command: tox\nDirectory: (root)\nOutput: (empty)\nError: bash: tox: command not found\nExit Code: 127\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: ${pid(k)}`,
  ),
  fails(
    'a command of an older Codex',
    'shell',
    { command: ['go', 'vet'] },
    (k) =>
      `{"output":"go: cannot find main module\\n","metadata":{"exit_code":1,"duration_seconds":${num(k, 0, 3)}.${fraction(k, 1)}}}`,
  ),
  spinning('a patch worded anew each time', (k) =>
    failed(
      'apply_patch',
      { input: `*** Begin Patch\n*** Update File: a.ts\n@@\n-const ${word(k)} = 1\n*** End Patch` },
      `apply_patch verification failed: Failed to find expected lines in /repo/a.ts:\nconst ${word(k)} = 1`,
    ),
  ),
  spinning('an edit with other text each time', (k) =>
    failed(
      'Edit',
      { file_path: '/repo/a.ts', old_string: word(k), new_string: 'x' },
      `<tool_use_error>String to replace not found in file.\nString: ${word(k)}</tool_use_error>`,
    ),
  ),
  spinning('a page that refuses every address', (k) =>
    failed(
      'WebFetch',
      { url: `https://wiki.example.com/${word(k)}`, prompt: 'read' },
      'Request failed with status code 403',
    ),
  ),
  spinning('a sub-agent that does not exist, asked anew', (k) =>
    failed(
      'Task',
      { subagent_type: 'oracle', prompt: `look into the ${word(k)}` },
      "Agent type 'oracle' not found. Available agents: general-purpose, Explore, Plan",
    ),
  ),
  spinning('a project of Jira that is closed, by other words', (k) =>
    failed(
      'jira__search',
      { jql: `project = X and text ~ ${word(k)}` },
      '{"errorMessages":["The value \'X\' does not exist for the field \'project\'."],"warningMessages":[]}',
    ),
  ),
  spinning(
    'varied queries of a database that is away, with times',
    (k) =>
      failed(
        'postgres__query',
        { sql: `select * from ${word(k)}` },
        `${iso(k)} connection to server at "10.0.0.4", port 5432 failed: Connection refused (attempt ${k + 1})`,
      ),
    { between: 1 },
  ),
  spinning('other flags of a command that is not there', (k) =>
    failed(
      'Bash',
      { command: `kustomize ${word(k)}` },
      'Exit code 127\n/bin/bash: line 1: kustomize: command not found',
    ),
  ),
  fails(
    'a click that waits in vain',
    'browser_click',
    { ref: 'e12' },
    (k) =>
      `### Error\nTimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - waiting for locator('aria-ref=e12')\n    - retrying click action, attempt #${k + 3}\n    - waiting ${num(k, 20, 500)}ms`,
  ),
  fails(
    'Slack, others in between',
    'slack__post',
    { channel: 'x', text: 'hi' },
    () => '{"ok":false,"error":"channel_not_found"}',
    { between: 3, breaks: { 6: 'compaction' } },
  ),
  fails(
    'a file outside of the allowed folders',
    'filesystem__read_file',
    { path: '/etc/x' },
    () => 'Access denied - path outside allowed directories: /etc/x not in /repo',
    { between: 2, breaks: { 5: 'restart' } },
  ),
  spinning('read, edit, compile in turn', (k) => [
    ok('Read', { file_path: '/repo/a.ts' }, '1→const a = 1;'),
    failed(
      'Edit',
      { file_path: '/repo/a.ts', old_string: 'b', new_string: 'c' },
      'String to replace not found in file.\nString: b',
    ),
    failed(
      'Bash',
      { command: 'npx tsc --diagnostics' },
      `Exit code 2\na.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\nCheck time:  ${seconds(k)}s\nTotal time:  ${seconds(k + 2)}s`,
    ),
  ]),
  spinning(
    'five failing calls in turn',
    (k) => [
      failed('Bash', { command: 'make' }, `Exit code 2\nmake: *** [Makefile:3: all] Error 1 (${clock(k)})`),
      failed(
        'Bash',
        { command: 'cmake .' },
        'Exit code 1\nCMake Error: The source directory "/repo" does not appear to contain CMakeLists.txt.',
      ),
      failed(
        'Bash',
        { command: 'ninja' },
        "Exit code 1\nninja: error: loading 'build.ninja': No such file or directory",
      ),
      failed(
        'Bash',
        { command: 'npm test' },
        `Exit code 1\nnpm error Missing script: "test"\nnpm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-30T${clock(k).replaceAll(':', '_')}_${fraction(k, 3)}Z-debug-0.log`,
      ),
      failed('Read', { file_path: '/repo/BUILD.md' }, 'File does not exist.'),
    ],
    { breaks: { 5: 'compaction' } },
  ),
  spinning(
    'four calls in turn, two of them fail',
    (k) => [
      ok('developer__shell', { command: 'ls' }, 'a.ts'),
      failed(
        'developer__text_editor',
        { path: '/repo/b.ts', command: 'view' },
        "-32602: The path '/repo/b.ts' does not exist or is not accessible.",
      ),
      ok('developer__shell', { command: 'pwd' }, '/repo'),
      failed(
        'developer__shell',
        { command: 'cat b.ts' },
        `cat: b.ts: No such file or directory\n[exit 1 after ${millis(k)}ms]`,
      ),
    ],
    { breaks: { 4: 'restart' } },
  ),
  spinning(
    'two reads in turn, with ages',
    (k) => [
      ok('ci__status', { run: 4 }, `{"state":"failed","updated":"${num(k, 2, 59)} minutes ago"}`),
      ok('ci__jobs', { run: 4 }, `{"jobs":["lint: failed"],"fetchedAt":"${iso(k)}"}`),
    ],
    { tools: { ci__status: { effect: 'readOnly' }, ci__jobs: { effect: 'readOnly' } } } as const,
  ),
  fails(
    'attempts of a client',
    'mail__send',
    { to: 'a' },
    (k) => `Attempt ${k + 1}/20 failed: 550 mailbox unavailable`,
  ),
  fails(
    'tries of a client',
    'mail__send',
    { to: 'b' },
    (k) => `SMTP error (try #${k + 1}): 550 mailbox unavailable, retry count: ${k}`,
  ),
  fails('retries left', 'mail__send', { to: 'c' }, (k) => `550 mailbox unavailable (${30 - k} retries left)`),
  fails('durations in words', 'ci__build', { ref: 'main' }, (k) => `Build failed in ${duration(k)}: step lint`),
  fails(
    'durations of ISO and of a watch',
    'ci__build',
    { ref: 'dev' },
    (k) =>
      `Build failed (PT${num(k, 1, 59)}.${fraction(k, 3)}S, elapsed 0:00:${num(k, 10, 59)}.${fraction(k, 2)}): step lint`,
  ),
  fails(
    'durations of Go',
    'ci__build',
    { ref: 'go' },
    (k) => `step lint failed after ${num(k, 1, 9)}m${num(k, 1, 59)}.${fraction(k, 9)}s`,
  ),
  fails('a German time', 'shop__order', { id: 1 }, (k) => `Fehler am ${inZone('de-DE', k)}: Bestellung nicht gefunden`),
  fails(
    'a long German time',
    'shop__order',
    { id: 2 },
    (k) => `Bestellung nicht gefunden (${inZone('de-DE', k, { dateStyle: 'full', timeStyle: 'long' })})`,
  ),
  fails('an American time', 'shop__order', { id: 3 }, (k) => `Order not found at ${inZone('en-US', k)} PST`),
  fails(
    'a long English time',
    'shop__order',
    { id: 4 },
    (k) => `Order not found. ${inZone('en-GB', k, { dateStyle: 'full', timeStyle: 'long' })}`,
  ),
  fails(
    'a Japanese time',
    'shop__order',
    { id: 5 },
    (k) => `注文が見つかりません ${inZone('ja-JP', k, { dateStyle: 'full', timeStyle: 'long' })}`,
  ),
  fails('a French time', 'shop__order', { id: 6 }, (k) => `Commande introuvable le ${inZone('fr-FR', k)}`),
  fails(
    'a time of JavaScript',
    'shop__order',
    { id: 7 },
    (k) => `Order not found: ${iso(k).replace(/.*T/, 'Mon Nov 30 2026 ').slice(0, 24)} GMT+0530 (India Standard Time)`,
  ),
  fails(
    'a time in the basic form',
    'shop__order',
    { id: 8 },
    (k) => `Order not found [${iso(k).slice(0, 19).replaceAll(/[-:]/g, '')}Z]`,
  ),
  fails(
    'a time in microseconds with a zone',
    'shop__order',
    { id: 9 },
    (k) => `Order not found (2026-11-30 ${clock(k)}.${fraction(k, 6)}+05:30)`,
  ),
  fails(
    'a time of milliseconds',
    'shop__order',
    { id: 10 },
    (k) => `{"ok":false,"error":"not_found","ts":"${Math.floor(moment(k).getTime() / 1000)}.${fraction(k, 6)}"}`,
  ),
  fails(
    'a header of Amazon',
    'shop__order',
    { id: 11 },
    (k) =>
      `404 Not Found (x-amzn-RequestId: ${uuid(k)}, x-amz-cf-id: ${base62(k, 54)}==, X-Amzn-Trace-Id: Root=1-${hex(k, 8)}-${hex(k, 24)})`,
  ),
  fails('an id of a correlation', 'shop__order', { id: 12 }, (k) => `Not found. correlationId=${base32(k, 26)}`),
  fails(
    'a session of a server',
    'shop__order',
    { id: 13 },
    (k) => `MCP error -32603: Not found (request id: ${k + 4}, took ${millis(k)}ms)`,
  ),
  fails(
    'a reference to give to support',
    'shop__order',
    { id: 14 },
    (k) => `Something went wrong. Reference ID: ${hex(k, 8)}-${hex(k, 4)}`,
  ),
  reads(
    'an age in words',
    'ci__status',
    { run: 5 },
    (k) => `failed, updated ${num(k, 2, 59)} ${k % 2 === 0 ? 'minutes' : 'hrs'} ago`,
  ),
  reads(
    'an age from now',
    'ci__status',
    { run: 6 },
    (k) => `{"state":"blocked","age":"${num(k, 2, 59)}m${num(k, 2, 59)}s","checkedAt":${moment(k).getTime()}}`,
  ),
  reads(
    'an uptime',
    'host__health',
    {},
    (k) => `status: degraded, uptime: ${k + 1} days, ${num(k, 1, 23)}:${num(k, 10, 59)}, disk: full`,
  ),
  bash(
    'a list with a time above it',
    'date; ls /nope',
    (k) => `${inZone('sv-SE', k)}\nls: cannot access '/nope': No such file or directory`,
    {},
    2,
  ),
];
