import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../dist/testing/index.js';
import { file, KilledHost, linesOf } from './killedHost.mjs';
import { LateRemote } from './lateRemote.mjs';

/** Times in ms that a question takes: below the limit of a call (150), above it, and far above it. */
const takes = [20, 300, 700];
/** A moment that does not come in so long is not waited for, in ms. */
const momentMs = 3000;
/** What is killed, by chance, where that is not told by what was seen. */
const harms = { server: ['server'], gateway: ['gateway'], both: ['server', 'gateway'] };
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
    await world.server.start();
    await world.startHost();
    for (let time = 1; time <= times; time++) {
      world.ask();
      await world.moment();
      await world.kill();
      progress(time, world.host.processed.size);
    }
    await world.host.settle(patienceMs);
    return { seed, ...world.kills, ...judge(paths, world.host) };
  } finally {
    await world.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

class World {
  kills = { gateways: 0, servers: 0 };
  host = new KilledHost();
  server;
  #paths;
  #random;
  /** What is killed next, and the session and question that this concerns most. */
  #harm;
  #about;

  constructor(paths, random) {
    this.#paths = paths;
    this.server = new LateRemote(paths[2]);
    this.#random = random;
  }

  below(count) {
    return Math.floor(this.#random() * count);
  }

  startHost() {
    const [database, answers] = this.#paths;
    return this.host.start(file('lateHost.mjs'), database, this.server.url, answers);
  }

  /** Asks a question in a session, mostly one that was asked before, there or in the other one. */
  ask() {
    for (let count = 0; count < 2; count++) {
      const number = this.host.sent.size;
      const any = {
        session: `s-${this.below(2)}`,
        question: `q-${Math.max(0, Math.floor(number / 4) - this.below(2))}`,
      };
      const { session, question } = count === 0 ? (this.#about ?? any) : any;
      const key = `m-${number}`;
      const ms = takes[Number(question.slice(2)) % takes.length];
      this.host.send(key, `${session} ${key} ${question} ${ms}\n`);
    }
  }

  /** Waits for the moment of a kill: once a call is kept its server is lost, once one was given what that came to its gateway is; or for any moment. */
  async moment() {
    const harm = ['server', 'server', 'gateway', 'gateway', 'both', 'any'][this.below(6)];
    this.#about = undefined;
    this.#harm = harms[harm] ?? Object.values(harms)[this.below(3)];
    if (harm === 'any') return wait(200 + this.below(1500));
    const [, answers] = this.#paths;
    const seen = linesOf(answers).length;
    const isIt = ({ result }) =>
      harm === 'gateway' ? result?.joined === true && result.keptUntil === undefined : result?.keptUntil !== undefined;
    for (const until = Date.now() + momentMs; Date.now() < until; await wait(5)) {
      this.#about = linesOf(answers)
        .slice(seen)
        .map(parsed)
        .find((answer) => answer !== undefined && isIt(answer));
      if (this.#about !== undefined) return;
    }
  }

  /** Kills that, at once, and starts it anew. */
  async kill() {
    const [server, gateway] = ['server', 'gateway'].map((what) => this.#harm.includes(what));
    if (server) {
      this.kills.servers++;
      await this.server.kill();
    }
    if (gateway) {
      this.kills.gateways++;
      await this.host.kill();
    }
    if (server) await this.server.start();
    if (gateway) await this.startHost();
  }

  async end() {
    await Promise.all([this.host.kill(), this.server.kill()]);
  }
}

/** A line that is not written to its end says nothing yet. */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function judge([, answers, runs], { sent, processed }) {
  const violations = [...sent.keys()].filter((key) => !processed.has(key)).map((key) => `${key} was not processed`);
  const ended = new Map(linesOf(runs).flatMap((line) => (line.startsWith('ended ') ? [line.split(' ').slice(1)] : [])));
  const given = new Map();
  /** What was asked and has no end yet, by session and question: that it is kept, and that its last call was cut by a kill. */
  const open = new Map();
  const sums = {
    begun: linesOf(runs).filter((line) => line.startsWith('begun ')).length,
    answers: 0,
    late: 0,
    lost: 0,
  };
  for (const line of linesOf(answers)) {
    const answer = JSON.parse(line);
    const { session, question, result } = answer;
    const about = `${question} of ${session}`;
    const asked = open.get(about);
    if (result === undefined) {
      // What a call that was cut has given nobody knows.
      open.set(about, { isFirst: asked === undefined, kept: asked?.kept === true && !asked.isCalled, isCalled: true });
      continue;
    }
    if (asked?.kept && result.joined !== true && result.outcome !== 'not_started')
      violations.push(`${about} was told to go on, and asked again it was made: ${line.slice(0, 300)}`);
    if (asked?.isFirst && result.joined === true)
      violations.push(`${about} was asked for the first time, and joined: ${line.slice(0, 300)}`);
    if (result.keptUntil !== undefined) open.set(about, { isFirst: false, kept: true, isCalled: false });
    else if (result.outcome === 'not_started') open.set(about, { ...asked, isFirst: false, isCalled: false });
    else open.delete(about);
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
