import { healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { age, clock, hash, hex, iso, seconds } from './volatile.ts';

const pods = (status: string, ready: string, after: number): string =>
  `NAME                   READY   STATUS    RESTARTS   AGE\nweb-7d9c5b6f4d-x2x7p   ${ready}     ${status}   0          ${age(after)}`;

const run = (status: string, after: number): string =>
  `STATUS  TITLE       WORKFLOW  BRANCH  EVENT  ID           ELAPSED  AGE\n${status}  Fix router  CI        main    push   13204918231  ${age(after)}  ${age(after + 4)}`;

/** Polls whose answers move, or whose tool is undeclared and answers alike. */
export const healthyPolls: readonly Shape[] = [
  healthy(
    'a build that is polled and moves one step at a time',
    times(72, (index) =>
      ok(
        'build_log',
        { tail: 1 },
        `#${Math.floor(index / 3) + 5} [${index + 1}/72] RUN npm ci --workspace packages/p${index + 1}`,
      ),
    ),
    { tools: { build_log: { effect: 'readOnly' } } },
  ),
  healthy(
    'a download that is polled, in per cent',
    times(100, (index) => ok('download_status', { id: 'dl-7' }, `\u001b[2K\rDownloading model.bin ${index + 1}%`)),
    { tools: { download_status: { effect: 'readOnly' } } },
  ),
  healthy(
    'a pod that is pending for fifteen polls and then runs',
    [
      ...times(15, (index) =>
        ok('kubectl_get', { resource: 'pods', namespace: 'web' }, pods('Pending', '0/1', 3 + index * 6)),
      ),
      ok('kubectl_get', { resource: 'pods', namespace: 'web' }, pods('Running', '1/1', 99)),
      ok('kubectl_logs', { pod: 'web-7d9c5b6f4d-x2x7p' }, 'listening on :8080'),
    ],
    { tools: { kubectl_get: { effect: 'readOnly' }, kubectl_logs: { effect: 'readOnly' } } },
  ),
  healthy(
    'a queue that is read until it is empty',
    times(90, (index) =>
      ok('queue_depth', { queue: 'mail' }, `${4312 - index * 48} messages ready (${clock(index * 5)})`),
    ),
    { tools: { queue_depth: { effect: 'readOnly' } } },
  ),
  healthy(
    'a shell that is polled while a long build is silent',
    times(80, (index) =>
      ok(
        'write_stdin',
        { session_id: 1821, chars: '', yield_time_ms: 1000 },
        `Chunk ID: ${hex(index, 6)}\nWall time: 1.00${hash(index) % 90} seconds\nProcess running with session ID 1821\nOriginal token count: 0\nOutput:\n`,
        { tookMs: 1001 },
      ),
    ),
    { source: 'router of weave PR #1123' },
  ),
  healthy(
    'a background command whose output is asked for until it ends',
    [
      ...times(44, (index) =>
        ok('BashOutput', { bash_id: 'b1f2' }, `<status>running</status>\n\n<timestamp>${iso(index * 9)}</timestamp>`),
      ),
      ok(
        'BashOutput',
        { bash_id: 'b1f2' },
        `<status>completed</status>\n<exit_code>0</exit_code>\n<stdout>ok</stdout>`,
      ),
    ],
    { source: 'LobsterAI PR #2454' },
  ),
  healthy('a workflow run that is listed while it runs, then ends', [
    ...times(50, (index) => ok('Bash', { command: 'gh run list --limit 1' }, run('*', 8 + index * 10))),
    ok('Bash', { command: 'gh run list --limit 1' }, run('✓', 512)),
  ]),
  healthy(
    'terraform that is still creating',
    times(60, (index) =>
      ok(
        'Bash',
        { command: 'tail -n 1 apply.log' },
        `aws_db_instance.main: Still creating... [${age(10 + index * 10)} elapsed]`,
      ),
    ),
  ),
  healthy(
    'a rollout that counts replicas',
    times(60, (index) =>
      ok(
        'kubectl_rollout',
        { deployment: 'web' },
        `Waiting for deployment "web" rollout to finish: ${index} out of 60 new replicas have been updated...`,
      ),
    ),
    { tools: { kubectl_rollout: { effect: 'readOnly' } } },
  ),
  healthy(
    'test output with a moving count and a wall time',
    times(60, (index) =>
      ok('test_progress', {}, `Tests  ${index * 7} passed (${index * 7 + 3})\nDuration  ${seconds(index)}s`),
    ),
    { tools: { test_progress: { effect: 'readOnly' } } },
  ),
];
