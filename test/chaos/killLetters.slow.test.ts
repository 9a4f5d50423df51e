import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openReader } from '../../reader/openReader.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import { seededRandom } from '../../testing/random.ts';
import { fixture } from '../actors/process/startProcess.ts';
import { hasSqlite } from '../store/startStore.ts';
import { hasPostgres, postgresServer } from '../support/postgresServer.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sourceOf } from '../web/dashboard/startDashboard.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Payments of one life of the gateway: one of each session. */
const atOnce = 6;
const wanted = Number(process.env['UNWEDGE_CHAOS_PAYMENTS'] ?? 18);
const ways = ['command', 'page', 'all'] as const;

const linesOf = (file: string): readonly Record<string, string>[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, string>)
    : [];

/** Payments by gateways on a store that are killed, and their dead letters, which are sent again until all have ended. */
class Payments {
  readonly #store: string;
  readonly #random: () => number;
  readonly directory = temporaryDirectory();
  readonly #env: Record<string, string>;
  kills = 0;
  readonly sent = { command: 0, page: 0, all: 0 };

  constructor(store: string | undefined, seed: number) {
    this.#store = store ?? join(this.directory, 'gateway.sqlite');
    this.#random = seededRandom(seed);
    const { PATH = '' } = process.env;
    this.#env = { PATH, HOME: this.directory, XDG_RUNTIME_DIR: this.directory };
    vi.stubEnv('XDG_RUNTIME_DIR', this.directory);
  }

  /** Makes so many, and more until enough letters have been sent again. @returns how many. */
  async makeAll(count: number): Promise<number> {
    let first = 1;
    for (; first <= count || (this.sentInAll < count / 4 && first <= 6 * count); first += atOnce)
      await this.#make(first);
    return first - 1;
  }

  get sentInAll(): number {
    const { command, page, all } = this.sent;
    return command + page + all;
  }

  async #make(first: number): Promise<void> {
    await this.#kill(await this.#start(first), 60);
    for (let tries = 0; ; tries++) {
      if (tries > 100) throw new Error('It does not come to an end');
      const life = await this.#start();
      // What was sent again is under way, or ends in peace.
      await wait(this.#random() < 0.5 ? this.#random() * 60 : 400);
      const letters = await this.#read((reader) => reader.deadLetters());
      if (letters.length === 0) {
        const isOver = (await this.#open()) === 0;
        await this.#kill(life, 30);
        if (isOver) return;
        continue;
      }
      const isAlive = this.#random() < 0.5;
      if (!isAlive) await this.#kill(life, 0);
      const way = ways[Math.floor(this.#random() * ways.length)] ?? 'all';
      if (way === 'all') await this.#command('--send-all', '--yes');
      for (const { id, session } of way === 'all' ? [] : letters) {
        if (way === 'command') await this.#command('--send', id);
        else await sourceOf(this.#store).order({ order: 'send_again', name: session, target: id, by: 'chaos' });
      }
      this.sent[way] += letters.length;
      if (isAlive) await this.#kill(life, 60);
    }
  }

  async #start(first?: number) {
    const words = [
      fixture('payingGateway'),
      this.#store,
      this.directory,
      ...(first === undefined ? [] : [String(first)]),
    ];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env: this.#env });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  }

  async #kill(child: ChildProcess, withinMs: number): Promise<void> {
    await wait(this.#random() * withinMs);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    this.kills++;
  }

  /** Messages that have not ended. */
  #open(): Promise<number> {
    return this.#read(async (reader) => {
      const found = await Promise.all((await reader.sessionIds()).map((id) => reader.session(id)));
      return found.reduce((sum, each) => sum + (each?.messages.length ?? 0), 0);
    });
  }

  async #read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    const reader = await openReader(this.#store);
    try {
      return await work(reader);
    } finally {
      reader.close();
    }
  }

  /** That a letter is one no more, or that its gateway is busy with its end, is its answer. */
  async #command(...words: readonly string[]): Promise<void> {
    await execa(process.execPath, [main, 'letters', ...words, '--db', this.#store], {
      env: this.#env,
      extendEnv: false,
      reject: false,
    });
  }
}

/** What is wrong with payments that were made and whose letters were sent again. */
async function violationsOf(payments: Payments): Promise<readonly string[]> {
  const inAll = await payments.makeAll(wanted);
  const made = linesOf(join(payments.directory, 'ledger'));
  const ended = new Map(linesOf(join(payments.directory, 'ended')).map((each) => [each['reference'], each]));
  const violations: string[] = [];
  for (let number = 1; number <= inAll; number++) {
    const reference = `o-${number}`;
    const end = ended.get(reference);
    const found = made.filter((payment) => payment['reference'] === reference);
    // Nobody can find out whether a plain payment was made whose answer was lost: it is not made again.
    const isRight = end?.['kind'] === 'plain' && end['said'] === 'unknown' ? found.length <= 1 : found.length === 1;
    if (!isRight || end === undefined)
      violations.push(`${reference} was paid ${found.length} times: ${JSON.stringify(end)}`);
    else if (found.length === 1 && end['said'] !== 'unknown' && end['said'] !== found[0]?.['id'])
      violations.push(`${reference} was told ${end['said']}, and is ${found[0]?.['id']}`);
  }
  process.stderr.write(`${JSON.stringify({ inAll, made: made.length, kills: payments.kills, sent: payments.sent })}\n`);
  if (payments.sentInAll < wanted / 4) violations.push('Hardly any letter was sent again');
  return violations;
}

describe('payments of gateways that are killed, whose dead letters are sent again by command, page and all together', () => {
  it.skipIf(!hasSqlite)(
    '[G-14] are made once each, with a file',
    async () => {
      expect(await violationsOf(new Payments(undefined, 7))).toEqual([]);
    },
    1_200_000,
  );

  it.skipIf(!hasPostgres)(
    '[G-14] are made once each, on PostgreSQL',
    async () => {
      const url = await (await postgresServer()).database();
      expect(await violationsOf(new Payments(`${url}?leaseMs=2500`, 7))).toEqual([]);
    },
    1_200_000,
  );
});
