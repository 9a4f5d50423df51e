import { failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { clock, hex, iso } from './volatile.ts';

const slept = (duration: number) => ok('Bash', { command: `sleep ${duration}` }, '', { tookMs: duration * 1000 });

/** Waits: answers that name a time, and tools that block. */
export const healthyWaits: readonly Shape[] = [
  healthy(
    'a rate limit that names its wait in seconds',
    times(30, () =>
      failed('search_issues', { q: 'is:open' }, 'Rate limit exceeded, retry in 30 s', { kind: 'rate_limit' }),
    ),
  ),
  healthy(
    'a rate limit that names its end by the clock',
    times(30, (index) =>
      failed(
        'list_commits',
        { repo: 'acme/web' },
        `API rate limit exceeded. Try again after ${clock(3600 + index * 60).slice(0, 5)} UTC.`,
        {
          kind: 'rate_limit',
        },
      ),
    ),
  ),
  healthy(
    'a 429 with a header of the wait',
    times(26, (index) =>
      failed(
        'post_message',
        { channel: 'C01' },
        `429 Too Many Requests (Retry-After: 60, request id ${hex(index, 12)})`,
        {
          kind: 'rate_limit',
        },
      ),
    ),
  ),
  healthy(
    'a maintenance that names its end, with sleeps',
    times(24, () => [
      failed('get_invoice', { id: 'in_7' }, 'Service under maintenance until 2026-03-02 14:00 UTC', {
        kind: 'transient',
      }),
      slept(45),
    ]),
  ),
  healthy(
    'a read that names when it is done',
    times(40, () => ok('render_status', { scene: 's3' }, 'Rendering. ETA 4 minutes')),
    { tools: { render_status: { effect: 'readOnly' } } },
  ),
  healthy(
    'a read that asks to come back later',
    times(30, () => ok('export_result', { id: 9 }, '{"status":"pending","retry_after_seconds":20}')),
    { tools: { export_result: { effect: 'readOnly' } } },
  ),
  healthy(
    'a tool that blocks for a minute and times out',
    times(40, () =>
      failed('wait_for_message', { channel: 'ops', timeout_ms: 60_000 }, 'No message within 60000 ms', {
        kind: 'timeout',
        tookMs: 60_004,
      }),
    ),
  ),
  healthy(
    'a watch that blocks and answers alike',
    times(30, () =>
      ok('gh_run_watch', { run: 13204918231 }, 'Refreshing run status every 3 seconds.\n* main CI · 13204918231', {
        tookMs: 45_000,
      }),
    ),
    { tools: { gh_run_watch: { effect: 'readOnly' } } },
  ),
  healthy(
    'a page that is waited for, half a minute each time',
    times(25, () => ok('browser_wait_for', { time: 35 }, 'Waited for 35 seconds', { tookMs: 35_010 })),
    { tools: { browser_wait_for: { effect: 'readOnly' } } },
  ),
  healthy(
    'a sleep before each look at a moving build',
    times(50, (index) => [
      slept(30),
      ok(
        'Bash',
        { command: 'tail -n 1 build.log' },
        `[${index + 1}/50] Compiling crate-${index + 1} at ${iso(index * 30)}`,
      ),
    ]),
  ),
  healthy(
    'questions to a person that are all answered yes',
    times(24, () => ok('AskUserQuestion', { question: 'Publish the next one?' }, 'Yes', { tookMs: 240_000 })),
  ),
  healthy('a state lock that is gone after eighteen tries', [
    ...times(18, () => [
      failed('Bash', { command: 'terraform plan -no-color' }, 'Exit code 1\nError: Error acquiring the state lock', {
        tookMs: 900,
      }),
      slept(30),
    ]),
    ok('Bash', { command: 'terraform plan -no-color' }, 'Plan: 3 to add, 1 to change, 0 to destroy.'),
  ]),
  healthy(
    'a long suite that fails alike and takes minutes, with a look at its log between',
    times(19, (index) => [
      failed('Bash', { command: 'npm run e2e' }, 'Exit code 1\n1 failed\n  [chromium] › cart.spec.ts:41', {
        tookMs: 310_000,
      }),
      ok('Read', { file_path: `/repo/test-results/run-${index}/trace.txt` }, `step ${index * 3} took too long`),
    ]),
  ),
];
