import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { seededRandom } from '../../dist/testing/index.js';
import { file, linesOf } from './killedHost.mjs';
import { judgeLate } from './lateProxyJudge.mjs';
import { LateRemote } from './lateRemote.mjs';

/** Times in ms that a question takes: below the limit of the proxy (300), above it, and far above it. */
const takes = [20, 500, 1100];
const options = ['--name', 'late', '--call-timeout', '300ms', '--retry', 'never'];
/** Limits of the client itself: above that of the proxy, and below it. */
const clientLimits = [20_000, 20_000, 150];
/** Times in ms after which a client asks again: what comes meanwhile finds nobody who waits. */
const pauses = [30, 400];
/** A question that has no end in so long hangs, in ms. */
const patienceMs = 60_000;

/**
 * Kills `unwedge mcp`, or the server behind it, `times` times while two clients of the official SDK ask a tool that takes longer than their limit; and checks
 * that each finished answer was given at most once, to the connection that had asked, and that what was not told to be lost was not made again there.
 * @returns {Promise<import('./killLateProxy.mjs').LateProxyReport>}
 */
export async function killLateProxy({ times, seed, by, progress = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  const random = seededRandom(seed);
  const below = (count) => Math.floor(random() * count);
  const journals = [0, 1].map((number) => join(directory, by === 'url' ? 'runs' : `runs-${number}`));
  const remote = by === 'url' ? new LateRemote(journals[0]) : undefined;
  await remote?.start();
  const kills = { proxies: 0, servers: 0 };
  const told = [];
  const deaths = [];
  const clients = journals.map((journal, number) => new Asker({ number, journal, remote, directory, told, below }));
  const over = { now: false };
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const asking = clients.map((client) => client.ask(over));
    for (let time = 1; time <= times; time++) {
      await wait(100 + below(1400));
      const client = clients[below(2)];
      if (random() < 0.4) {
        kills.servers++;
        deaths.push({ at: Date.now(), connection: remote === undefined ? client.name : undefined });
        if (remote === undefined) client.killServer();
        else await remote.kill().then(() => remote.start());
      } else {
        kills.proxies++;
        deaths.push({ at: Date.now(), connection: client.name, proxy: true });
        await client.killProxy();
      }
      progress(time, told.length);
    }
    over.now = true;
    const hung = await Promise.race([Promise.all(asking).then(() => false), wait(patienceMs, true, { ref: false })]);
    const { violations, ...sums } = judgeLate({ told, lines: [...new Set(journals)].flatMap(linesOf), deaths });
    if (hung) violations.push(`a question had no end within ${patienceMs / 1000} s`);
    return { seed, by, ...kills, ...sums, violations };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await remote?.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A client in front of a proxy of its own, which asks one question after the other until it has an end. */
class Asker {
  #about;
  #client;
  #transport;
  #connections = 0;
  #next = 0;

  constructor(about) {
    this.#about = about;
  }

  get name() {
    return `c${this.#about.number}-${this.#connections}`;
  }

  async connect() {
    const { journal, remote, directory } = this.#about;
    this.#connections++;
    const server =
      remote === undefined ? ['--', process.execPath, file('lateServer.mjs'), 'stdio', journal] : ['--url', remote.url];
    const env = { PATH: process.env.PATH, HOME: directory, UNWEDGE_DB: join(directory, 'mcp.sqlite') };
    const args = [file('../../dist/cli/main.js'), 'mcp', ...options, ...server];
    this.#transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
    this.#client = new Client({ name: this.name, version: '1.0.0' });
    await this.#client.connect(this.#transport);
  }

  async ask(over) {
    const { below } = this.#about;
    while (!over.now) {
      const question = `q-${Math.max(0, this.#next++ - below(3))}`;
      await this.#end(
        question,
        takes[Number(question.slice(2)) % takes.length],
        clientLimits[below(clientLimits.length)],
      );
    }
  }

  /** Asks a question until it has an end, as an agent does that is told to. */
  async #end(question, ms, timeout) {
    const { told, below } = this.#about;
    for (let time = 0; time < 40; time++) {
      const connection = this.name;
      const askedAt = Date.now();
      const note = (what) => told.push({ connection, question, askedAt, at: Date.now(), ...what });
      try {
        const result = await this.#client.callTool({ name: 'work', arguments: { question, ms } }, undefined, {
          timeout,
        });
        const failure = result._meta?.['unwedge/failure'];
        const late = result._meta?.['unwedge/reconciled'] !== undefined;
        if (result.isError !== true) return note({ run: result.content[0].text, late });
        if (failure?.keptUntil !== undefined) note({ kept: true });
        else if (failure?.outcome !== 'not_started') return note({ outcome: failure?.outcome });
      } catch (error) {
        const isLimit = error?.code === -32_001;
        note({ gaveUp: true });
        // The proxy is gone: what it kept is gone with it.
        if (!isLimit) {
          await this.reconnected;
          return;
        }
      }
      await wait(pauses[below(pauses.length)]);
    }
  }

  reconnected = Promise.resolve();

  async killProxy() {
    const { pid } = this.#transport;
    if (pid === null) return;
    let done = () => undefined;
    this.reconnected = new Promise((resolve) => (done = resolve));
    const closed = new Promise((resolve) => (this.#client.onclose = resolve));
    process.kill(pid, 'SIGKILL');
    await closed;
    await this.connect();
    done();
  }

  killServer() {
    const pid = Number(
      linesOf(this.#about.journal)
        .findLast((line) => line.startsWith('started '))
        ?.split(' ')[1],
    );
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went by itself meanwhile.
    }
  }

  async end() {
    await this.#client?.close();
  }
}
