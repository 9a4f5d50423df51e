import { by, failed, ok, spinning } from '../build.ts';
import type { SpinningShape } from '../shape.ts';
import { chance, hex, iso, otherWork, uuid } from './make.ts';

const tables = ['orders', 'order', 'tbl_orders', 'sales', 'sales_order', 'purchase', 'bestellung', 'pedido'];

export const spinningRounds: readonly SpinningShape[] = [
  spinning('a browser: click, the element is gone, look again', () => [
    ok('snapshot', {}, '<button ref="e12">Continuer</button>'),
    failed('click', { ref: 'e12' }, 'element e12 is detached from the document'),
  ]),
  spinning(
    'kubernetes: apply, wait, describe, over and over after a restart',
    (round) => [
      ok('apply', { file: 'web.yaml' }, 'deployment.apps/web unchanged'),
      failed('rollout_status', { name: 'web' }, 'error: deployment "web" exceeded its progress deadline'),
      ok('describe', { name: 'web' }, `Events: FailedMount ${chance(round, 50) + 2}s ago: secret "tls" not found`),
    ],
    { breaks: { 5: 'restart', 9: 'compaction' } },
  ),
  spinning('mail: log in, open, refused, log out', () => [
    ok('login', { user: 'kim' }, 'welcome'),
    ok('select', { box: 'Archiv' }, 'ok'),
    failed('move', { uid: 7, to: 'Papierkorb' }, 'NO [TRYCREATE] no such mailbox'),
    ok('logout', {}, 'bye'),
  ]),
  spinning('a robot: five steps, the last one fails', () => [
    ok('arm_home', {}, 'home'),
    ok('open_gripper', {}, 'open'),
    ok('approach', { object: 'cube' }, 'at cube'),
    ok('close_gripper', {}, 'closed'),
    failed('lift', { mm: 80 }, 'object slipped'),
  ]),
  spinning('sql: five names, one after the other, again', (round) =>
    failed('query', { sql: `SELECT * FROM ${tables[round % 5]}` }, `relation "${tables[round % 5]}" does not exist`),
  ),
  spinning('a list, then another file that may not be read', (round) => [
    ok('list_dir', { path: '/etc/shop' }, 'a b c'),
    failed('read_text', { path: `/etc/shop/${hex(round, 6)}.conf` }, 'permission denied'),
  ]),
  spinning(
    'namespaces that are all forbidden, others between',
    (round) => failed('get_secrets', { namespace: `team-${round}` }, 'secrets is forbidden: User "bot" cannot list'),
    { count: 24, breaks: { 6: 'restart' } },
  ),
  spinning('windows: a path after the other', (round) =>
    failed(
      'type_file',
      { path: `C:\\Users\\Ana\\${hex(round, 5)}\\notes.txt` },
      'The system cannot find the path specified.',
    ),
  ),
  spinning('selectors that all wait in vain', (round) =>
    failed('wait_for', { selector: `#pay-${hex(round, 4)}` }, 'Timeout 5000ms exceeded.', {
      kind: 'timeout',
      tookMs: 5_004,
    }),
  ),
  spinning('recipients that are all refused, each named', (round) =>
    failed('smtp_send', { to: `u${round}@nowhere.example` }, `550 5.1.1 <u${round}@nowhere.example>: user unknown`),
  ),
  spinning('amounts that are all declined, with a request id', (round) =>
    failed('authorize', { amount: 1_000 - round * 10 }, `card_declined (request ${uuid(round)})`),
  ),
  spinning('tools of a hub that are not there, one tool that calls them', (round) =>
    failed('call_remote', { server: 'crm', tool: `find_${hex(round, 5)}` }, 'Unknown tool', { kind: 'invalid' }),
  ),
  spinning('a sub-agent fails, the main one works', (round) => [
    ok('write_page', { page: round }, `page ${round} written`),
    ...by('reviewer', [failed('open_diff', { id: 9 }, 'diff 9 is too large')]),
  ]),
  spinning('a run that starts the same run again', () =>
    failed('spawn_agent', { task: 'Behebe den Fehler', depth: 1 }, 'sub-agent ended without an answer'),
  ),
  spinning(
    'a status that succeeds, a time in it, many others between',
    (round) => ok('ci_status', { ref: 'main' }, `no run for main (checked ${iso(round)})`),
    { between: 4, other: otherWork, count: 12, breaks: { 3: 'compaction' } },
  ),
  spinning(
    'the same deny of a rule, others between',
    () => failed('shell', { cmd: 'rm -rf build' }, 'denied by policy: no deletion', { kind: 'auth' }),
    { between: (round) => round % 3, other: otherWork, breaks: { 4: 'restart', 7: 'restart' } },
  ),
];
