import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../dist/testing/index.js';
import { file, KilledHost, linesOf } from './killedHost.mjs';

/** A message that is not processed in so long hangs, in ms. */
const patienceMs = 90_000;

/**
 * Kills a gateway, or stops it, `times` times while its sessions ask people, whom `unwedge inbox answer` stands for; and checks that each question was one
 * row that its handler saw once, and that each turn got the one end of its row: what was allowed in time as allowed, all else as declined.
 * @returns {Promise<import('./killInbox.mjs').InboxChaosReport>}
 */
export async function killInbox({ times, seed, progress = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  const paths = ['gateway.sqlite', 'journal'].map((name) => join(directory, name));
  const world = new World(paths, seededRandom(seed));
  try {
    await world.startHost();
    for (let time = 1; time <= times; time++) {
      world.send();
      await Promise.all([world.answer(), wait(world.below(1200)).then(() => world.kill())]);
      await world.startHost();
      progress(time, world.host.processed.size);
    }
    // People go on answering.
    await world.host.settle(patienceMs, () => world.answer());
    return { seed, ...world.sums, ...(await judge(paths, world)) };
  } finally {
    await world.host.kill();
    if (process.env.KEEP === undefined) rmSync(directory, { recursive: true, force: true });
    else process.stderr.write(`${directory}\n`);
  }
}

class World {
  sums = { kills: 0, stops: 0, answers: 0, late: 0 };
  host = new KilledHost();
  /** Answers that counted, by question. */
  given = new Map();
  violations = [];
  #paths;
  #random;

  constructor(paths, random) {
    this.#paths = paths;
    this.#random = random;
  }

  below(count) {
    return Math.floor(this.#random() * count);
  }

  startHost() {
    return this.host.start(file('inboxHost.mjs'), ...this.#paths);
  }

  send() {
    const number = this.host.sent.size;
    this.host.send(`m-${number}`, `s-${number % 6} m-${number}\n`);
  }

  /** Answers what is open as chance says: some twice at the same time, some not at all. */
  async answer() {
    await wait(this.below(300));
    const { stdout } = await this.#unwedge(['inbox', '--json']);
    const open = stdout === '' ? [] : JSON.parse(stdout);
    const chosen = open.filter(() => this.#random() < 0.6).slice(0, 3);
    await Promise.all(
      chosen.map(async ({ id }) => {
        const ways = this.#random() < 0.3 ? ['--allow', '--deny'] : [this.#random() < 0.65 ? '--allow' : '--deny'];
        const codes = await Promise.all(
          ways.map((way) => this.#unwedge(['inbox', 'answer', id, way, '--by', 'chaos'])),
        );
        for (const [index, { code }] of codes.entries()) {
          this.sums.answers++;
          if (code !== 0) this.sums.late++;
          else if (this.given.has(id)) this.violations.push(`${id} was answered twice`);
          else this.given.set(id, ways[index] === '--allow' ? 'accept' : 'decline');
        }
      }),
    );
  }

  #unwedge(words) {
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [file('../../dist/cli/main.js'), ...words, '--db', this.#paths[0]],
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : (error.code ?? 1), stdout, stderr }),
      );
    });
  }

  async kill() {
    const isStop = this.#random() < 0.2;
    this.sums[isStop ? 'stops' : 'kills']++;
    await this.host.kill(isStop ? 'SIGTERM' : 'SIGKILL');
  }
}

async function judge([database, journal], { host: { sent, processed }, given, violations: found }) {
  const violations = [...found, ...[...sent.keys()].filter((key) => !processed.has(key)).map((key) => `${key} hangs`)];
  const { default: Database } = await import('better-sqlite3');
  const rows = new Database(database, { readonly: true }).prepare('SELECT * FROM unwedge_questions').all();
  const ends = new Map(rows.map(({ id, state, answer }) => [id, { state, answer: answer && JSON.parse(answer) }]));
  const byWhat = groupBy(rows, ({ what }) => what);
  for (const [what, same] of byWhat) if (same.length > 1) violations.push(`${what} was asked ${same.length} times`);
  for (const [id, decision] of given)
    if (ends.get(id)?.answer?.decision !== decision) violations.push(`${id}: the answer ${decision} was lost`);
  const entries = linesOf(journal).map((line) => JSON.parse(line));
  const handled = groupBy(
    entries.filter(({ handler }) => handler !== undefined),
    ({ what }) => what,
  );
  for (const [what, times] of handled)
    if (times.length > 1) violations.push(`the handler was asked ${times.length} times about ${what}`);
  const told = entries.filter(({ session }) => session !== undefined);
  const deliveries = new Set();
  for (const { what, delivery, pid, allowed, failure } of told) {
    const turn = `${what} ${delivery} ${pid}`;
    if (deliveries.has(turn)) violations.push(`${turn} was answered twice`);
    deliveries.add(turn);
    const [row] = byWhat.get(what) ?? [];
    const { state, answer } = ends.get(row?.id) ?? {};
    const isAllowed = state === 'answered' && answer.decision === 'accept' && answer.value !== false;
    if (allowed !== isAllowed)
      violations.push(
        `${turn} was ${allowed ? 'allowed' : 'declined'} (${failure}), its row is ${state} ${JSON.stringify(answer)}`,
      );
  }
  for (const key of processed)
    for (const what of [`${key} approval`, `${key} ask`])
      if (!told.some((each) => each.what === what)) violations.push(`nobody was told the end of ${what}`);
  const count = (is) => rows.filter(({ id }) => is(ends.get(id))).length;
  for (const { what, state } of rows)
    if (state === 'open' && processed.has(what.split(' ')[0])) violations.push(`${what} is open after its message`);
  return {
    messages: sent.size,
    questions: rows.length,
    allowed: count(({ answer }) => answer?.decision === 'accept'),
    declined: count(({ answer }) => answer?.decision === 'decline'),
    expired: count(({ state }) => state === 'expired'),
    violations,
  };
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
