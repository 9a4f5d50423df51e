import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../dist/testing/index.js';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
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
      progress(time, world.processed.size);
    }
    await world.settle();
    return { seed, ...world.sums, ...(await judge(paths, world)) };
  } finally {
    await world.end();
    if (process.env.KEEP === undefined) rmSync(directory, { recursive: true, force: true });
    else process.stderr.write(`${directory}\n`);
  }
}

class World {
  sums = { kills: 0, stops: 0, answers: 0, late: 0 };
  /** Keys of messages that were sent, with their lines, and of those that were processed. */
  sent = new Map();
  processed = new Set();
  /** Answers that counted, by question. */
  given = new Map();
  violations = [];
  #paths;
  #random;
  #host;

  constructor(paths, random) {
    this.#paths = paths;
    this.#random = random;
  }

  below(count) {
    return Math.floor(this.#random() * count);
  }

  async startHost() {
    const host = spawn(process.execPath, [file('inboxHost.mjs'), ...this.#paths], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#host = host;
    host.stdin.on('error', () => undefined);
    createInterface({ input: host.stdout }).on('line', (line) => {
      const [what, key] = line.split(' ');
      if (what === 'processed') this.processed.add(key);
    });
    await once(host.stdout, 'data');
    for (const [key, line] of this.sent) if (!this.processed.has(key)) host.stdin.write(line);
  }

  send() {
    const key = `m-${this.sent.size}`;
    const line = `s-${this.sent.size % 6} ${key}\n`;
    this.sent.set(key, line);
    this.#host.stdin.write(line);
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
    await gone(this.#host, isStop ? 'SIGTERM' : 'SIGKILL');
  }

  /** Waits until each message was processed; people go on answering. */
  async settle() {
    const deadline = Date.now() + patienceMs;
    while (this.processed.size < this.sent.size && Date.now() < deadline) await this.answer();
  }

  async end() {
    await gone(this.#host, 'SIGKILL');
  }
}

async function gone(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

async function judge([database, journal], { sent, processed, given, violations: found }) {
  const violations = [...found, ...[...sent.keys()].filter((key) => !processed.has(key)).map((key) => `${key} hangs`)];
  const { default: Database } = await import('better-sqlite3');
  const rows = new Database(database, { readonly: true }).prepare('SELECT * FROM unwedge_questions').all();
  const ends = new Map(rows.map(({ id, state, answer }) => [id, { state, answer: answer && JSON.parse(answer) }]));
  const byWhat = groupBy(rows, ({ what }) => what);
  for (const [what, same] of byWhat) if (same.length > 1) violations.push(`${what} was asked ${same.length} times`);
  for (const [id, decision] of given)
    if (ends.get(id)?.answer?.decision !== decision) violations.push(`${id}: the answer ${decision} was lost`);
  const lines = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').filter(Boolean) : [];
  const entries = lines.map((line) => JSON.parse(line));
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
