import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../dist/testing/index.js';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
/** Times in ms that a question takes: below the limit of a call (150), above it, and far above it. */
const takes = [20, 300, 700];
/** A message that is not processed in so long hangs, in ms. */
const patienceMs = 60_000;

/**
 * Kills a gateway, or the remote server behind it, `times` times while its sessions ask a tool that takes longer than their limit; and checks that each
 * finished answer was given at most once, to the session that had asked, and that each message was processed.
 * @returns {Promise<import('./killLate.mjs').LateChaosReport>}
 */
export async function killLate({ times, seed, progress = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  const paths = ['gateway.sqlite', 'answers', 'runs'].map((name) => join(directory, name));
  const world = new World(paths, seededRandom(seed));
  try {
    await world.startServer();
    await world.startHost();
    for (let time = 1; time <= times; time++) {
      world.ask();
      await wait(200 + world.below(1500));
      await world.kill();
      progress(time, world.processed.size);
    }
    await world.settle();
    return { seed, ...world.kills, ...judge(paths, world) };
  } finally {
    await world.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

class World {
  kills = { gateways: 0, servers: 0 };
  /** Keys of messages that were sent, with their lines, and of those that were processed. */
  sent = new Map();
  processed = new Set();
  #paths;
  #random;
  #port = 0;
  #server;
  #host;

  constructor(paths, random) {
    this.#paths = paths;
    this.#random = random;
  }

  below(count) {
    return Math.floor(this.#random() * count);
  }

  async startServer() {
    this.#server = spawn(process.execPath, [file('lateServer.mjs'), String(this.#port), this.#paths[2]], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(this.#server.stdout, 'data');
    this.#port = Number(String(said).trim().split(' ')[1]);
  }

  async startHost() {
    const [database, answers] = this.#paths;
    const url = `http://127.0.0.1:${this.#port}/mcp`;
    const host = spawn(process.execPath, [file('lateHost.mjs'), database, url, answers], {
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

  /** Asks a question in a session, mostly one that was asked before, there or in the other one. */
  ask() {
    for (let count = 0; count < 2; count++) {
      const number = this.sent.size;
      const question = `q-${Math.max(0, Math.floor(number / 4) - this.below(2))}`;
      const key = `m-${number}`;
      const ms = takes[Number(question.slice(2)) % takes.length];
      const line = `s-${this.below(2)} ${key} ${question} ${ms}\n`;
      this.sent.set(key, line);
      this.#host.stdin.write(line);
    }
  }

  /** Kills what chance says, at once, and starts it anew. */
  async kill() {
    const server = this.#random() < 0.4;
    const gateway = !server || this.#random() < 0.3;
    if (server) {
      this.kills.servers++;
      await gone(this.#server);
    }
    if (gateway) {
      this.kills.gateways++;
      await gone(this.#host);
    }
    if (server) await this.startServer();
    if (gateway) await this.startHost();
  }

  /** Waits until each message was processed. */
  async settle() {
    const deadline = Date.now() + patienceMs;
    while (this.processed.size < this.sent.size && Date.now() < deadline) await wait(50);
  }

  async end() {
    for (const child of [this.#host, this.#server]) if (child !== undefined) await gone(child);
  }
}

async function gone(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function judge([, answers, runs], { sent, processed }) {
  const violations = [...sent.keys()].filter((key) => !processed.has(key)).map((key) => `${key} was not processed`);
  const ended = new Map(linesOf(runs).flatMap((line) => (line.startsWith('ended ') ? [line.split(' ').slice(1)] : [])));
  const given = new Map();
  const kept = new Set();
  const sums = {
    begun: linesOf(runs).filter((line) => line.startsWith('begun ')).length,
    answers: 0,
    late: 0,
    lost: 0,
  };
  for (const line of linesOf(answers)) {
    const answer = JSON.parse(line);
    const { session, question, result } = answer;
    const turn = `${session} ${answer.key} ${answer.delivery}`;
    // What is kept is not made again while anybody knows of it.
    if (kept.has(turn) && result.joined !== true && result.outcome !== 'not_started')
      violations.push(`${turn} was told that ${question} goes on, and asked again it was made: ${line.slice(0, 300)}`);
    if (result.keptUntil === undefined) kept.delete(turn);
    else kept.add(turn);
    if (result.status !== 'ok') {
      if (result.joined === true && result.keptUntil === undefined) sums.lost++;
      continue;
    }
    sums.answers++;
    if (result.joined === true) sums.late++;
    const run = result.value.content[0].text;
    if (ended.get(run) !== question)
      violations.push(`${question} of ${session} was answered with ${run}, of ${ended.get(run)}`);
    // An answer that was given while it was awaited belongs to its own call.
    const before = given.get(run);
    if (before !== undefined)
      violations.push(`${run} was given to ${before.session} ${before.key} and to ${session} ${answer.key}`);
    given.set(run, answer);
  }
  return { messages: sent.size, ...sums, violations };
}

const linesOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []);
