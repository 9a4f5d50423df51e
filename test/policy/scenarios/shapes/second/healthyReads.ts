import { healthy, ok, times } from '../build.ts';
import type { Shape, ShapeCall } from '../shape.ts';
import { at, gives, hex, iso, reads, uuid } from './make.ts';

/** A declared read whose answer moves. */
const moves = (name: string, tool: string, input: unknown, answer: (round: number) => string): Shape =>
  healthy(
    name,
    times(40, (round) => ok(tool, input, answer(round))),
    reads(tool),
  );

/** A declared read after each step of work. */
const after = (
  name: string,
  work: (round: number) => ShapeCall,
  tool: string,
  input: unknown,
  answer: (round: number) => string,
): Shape =>
  healthy(
    name,
    times(40, (round) => [work(round), ok(tool, input, answer(round))]),
    reads(tool),
  );

const pad = (number: number): string => String(number).padStart(2, '0');

const log = (round: number): string =>
  times(160, (line) => {
    const step = line === 110 ? `migrated step ${round + 40}/400` : `worker idle, queue ${line % 7}`;
    return `${iso(round * 200 + line)} INFO [worker] ${step}`;
  }).join('\n');

export const healthyReads: readonly Shape[] = [
  after(
    'a queue: peek and acknowledge, only the id of the message is another',
    (round) => ok('ack', { messageId: uuid(round) }, 'acknowledged'),
    'peek',
    { queue: 'orders' },
    (round) => JSON.stringify({ messageId: uuid(round + 1), body: { kind: 'reindex' } }),
  ),
  after(
    'git log after each commit: only the hash and the date are others',
    (round) => ok('git_commit', { message: 'wip', files: [`f${round}.ts`] }, 'committed'),
    'git_log',
    { max: 1 },
    (round) => `commit ${hex(round, 40)}\nAuthor: Bo <bo@example.org>\nDate:   ${at(round).toUTCString()}\n\n    wip`,
  ),
  after(
    'a calendar: the next free day is booked, and another is next',
    (round) =>
      ok(
        'book',
        {
          day: at(round * 2_300)
            .toISOString()
            .slice(0, 10),
        },
        'booked',
      ),
    'next_free_day',
    { room: 'Blue' },
    (round) =>
      `Next free day: ${at((round + 1) * 2_300)
        .toISOString()
        .slice(0, 10)}`,
  ),
  moves('a washing machine: the minutes that are left go down', 'washer_status', { device: 'w1' }, (round) => {
    return `Koch-/Buntwäsche 60°, noch ${95 - round} min`;
  }),
  moves('a player: the position moves', 'player_status', {}, (round) => {
    return `playing 00:${pad(round)}:31 / 01:40:00`;
  }),
  after(
    'a benchmark after each edit: the time is what is worked on',
    (round) => ok('edit', { path: 'hot.ts', new: hex(round, 8) }, 'Edited.'),
    'bench',
    { suite: 'parse' },
    (round) => `p95: ${400 - round * 5} ms`,
  ),
  moves(
    'a match: the score moves',
    'score',
    { match: 'HSV-BSC' },
    (round) => `HOME ${pad(10 + round)}:${pad(12)} GUEST`,
  ),
  moves('a robot: metres are no minutes', 'pose', { robot: 'r2' }, (round) => `at ${round + 2} m north of the dock`),
  moves('a wind sensor: metres per second', 'wind', { mast: 3 }, (round) => `wind ${round + 1} m/s from the west`),
  moves('a lamp: the colour moves', 'lamp', { id: 4 }, (round) => `#${hex(round, 6)}`),
  moves('a clock that answers JSON', 'now', { zone: 'Asia/Tokyo' }, (round) => {
    return JSON.stringify({ now: iso(round), zone: 'Asia/Tokyo', dst: false });
  }),
  after(
    'an import: the time of the newest row moves',
    (round) => ok('import_batch', { file: `part-${round}.csv` }, 'imported'),
    'sql',
    { query: 'SELECT max(created_at) AS newest FROM orders' },
    (round) =>
      JSON.stringify([
        {
          newest: at(round * 60)
            .toISOString()
            .replace('T', ' ')
            .slice(0, 19),
        },
      ]),
  ),
  after(
    'an editor: no problems after each of forty edits',
    (round) => ok('replace_in_file', { path: `src/part${round}.ts`, text: hex(round, 20) }, 'Edited.'),
    'get_diagnostics',
    {},
    () => '[]',
  ),
  after(
    'a table: no row is rejected after each insert',
    (round) => ok('insert', { table: 'customers', row: { id: round, name: hex(round, 8) } }, '1 row'),
    'count_rejected',
    { table: 'customers' },
    () => '0',
  ),
  after(
    'a relay: on and off, checked each time',
    () => ok('toggle_relay', { relay: 2 }, 'ok'),
    'relay_state',
    { relay: 2 },
    (round) => (round % 2 === 0 ? 'on' : 'off'),
  ),
  moves('a log of 9 kB: one line in the middle moves', 'tail', { unit: 'migrator', lines: 160 }, log),
  after(
    'a build: only the digest of what is built moves',
    (round) => ok('build', { flags: [`-O${round % 4}`, `-DN=${round}`] }, 'built'),
    'sha256',
    { file: 'out.bin' },
    (round) => `${hex(round, 64)}  out.bin`,
  ),
  moves('japanese: full-width digits go down', 'nokori', {}, (round) => {
    return `残り${String(90 - round).replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))}件`;
  }),
  moves('arabic: the digits go up', 'taqaddum', {}, (round) => {
    return `اكتمل ${String(20 + round).replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))} من المهام`;
  }),
  healthy(
    'a browser: page by page, the list in the page moves',
    times(40, (round) => [
      ok('browser_scroll', { by: 800 }, 'scrolled'),
      ok('browser_snapshot', {}, `<ul>${times(12, (row) => `<li>Produit ${round * 12 + row}</li>`).join('')}</ul>`),
    ]),
    reads('browser_snapshot'),
  ),
  healthy(
    'screenshots: one place deep in the picture moves',
    times(40, (round) =>
      gives(
        'screenshot',
        { full: true },
        {
          content: [{ type: 'image', mimeType: 'image/png', data: `${'iVBORw0K'.repeat(600)}${hex(round, 8)}AAAA` }],
        },
      ),
    ),
    reads('screenshot'),
  ),
];
