import { failed, ok, spinning } from '../build.ts';
import type { SpinningShape } from '../shape.ts';
import { chance, gives, hex, otherWork, reads } from './make.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴'];
const spinner = (round: number, text: string): string =>
  Array.from({ length: 3 + chance(round, 12) }, (_, frame) => `${frames[frame % 6]} ${text}`).join('\r');

const bytes = `${'iVBORw0K'.repeat(500)}AAAA`;
const large = 'dolor sit amet '.repeat(6_800);

export const spinningScreens: readonly SpinningShape[] = [
  spinning('a spinner that turns longer or shorter before the same failure', (round) =>
    failed('npm_install', { name: 'left-pad' }, `${spinner(round, 'resolving')}\rnetwork is unreachable`),
  ),
  spinning('a bar that fills faster or slower before the same failure', (round) => {
    const bar = Array.from(
      { length: 2 + chance(round, 5) },
      (_, at) => `[${'#'.repeat(at)}] ${at * 9 + chance(round, 9)}%`,
    );
    return failed('docker_pull', { image: 'shop' }, `${bar.join('\r')}\r\u001B[Kmanifest unknown`);
  }),
  spinning('another colour each time', (round) =>
    failed(
      'pnpm',
      { args: ['build'] },
      `\u001B[38;5;${chance(round, 255)}mERR_PNPM_NO_SCRIPT\u001B[0m  missing script: build`,
    ),
  ),
  spinning('lines broken at another width', (round) => {
    const words = 'the branch main is protected and may be changed by a pull request alone'.split(' ');
    return failed('git_push', {}, words.join(round % 2 === 0 ? ' ' : '  '));
  }),
  spinning('the same picture again', () =>
    gives('take_screenshot', {}, { content: [{ type: 'image', mimeType: 'image/png', data: bytes }] }),
  ),
  spinning('null again', () => gives('get_selection', { window: 1 }, null), { ...reads('get_selection') }),
  spinning('nothing again', () => ok('read_terminal', { tab: 2 }, ''), { breaks: { 6: 'compaction' } }),
  spinning('the same number again', () => gives('unread', { box: 'INBOX' }, 3), { between: 2, other: otherWork }),
  spinning('arguments of 100 kB', () => failed('write_doc', { body: large }, 'document is read-only'), {
    between: 1,
    other: otherWork,
  }),
  spinning('arguments whose keys come in another order at each level', (round) => {
    const inner = round % 2 === 0 ? { x: 1.5, y: -0.25 } : { y: -0.25, x: 1.5 };
    return failed(
      'move_arm',
      round % 3 === 0 ? { to: inner, speed: 1 } : { speed: 1, to: inner },
      'joint 3 at its limit',
    );
  }),
  spinning('a map again', () => gives('cache_stats', {}, new Map([['hits', 0]])), reads('cache_stats')),
  spinning('a failure in polish', () => failed('wyslij', { kwota: 12.5 }, 'Błąd: nieprawidłowy numer konta')),
  spinning('an empty message', () => failed('beep', { hz: 440 }, '')),
  spinning('a page with the same form', () =>
    ok('browser_snapshot', {}, `<form>${'<input name="q">'.repeat(300)}</form>`),
  ),
  spinning('a payment with a key of its own each time', (round) =>
    failed('pay', { amount: 900, idempotencyKey: hex(round, 24) }, 'card_declined: insufficient funds'),
  ),
];
