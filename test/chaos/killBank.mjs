import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { seededRandom } from '../../dist/testing/index.js';
import { startSession } from './mcpSession.mjs';

const bank = fileURLToPath(new URL('../fixtures/ledgerBank.mjs', import.meta.url));
/** Payments that are wanted at once. */
const atOnce = 3;
/** A call that takes longer hangs, in ms. */
const patienceMs = 90_000;
/** Times that an agent asks again of a payment that was not made. */
const mostRepeats = 10;

/** What goes wrong with a payment, and how often. `kill`: the server dies at a moment of its own. */
const points = [
  ['before', 16],
  ['after', 22],
  ['answered', 6],
  ['before-probe', 6],
  ['after-probe', 10],
  ['before-start', 3],
  ['after-start', 5],
  ['mute', 3],
  ['idle', 3],
  ['slow', 4],
  ['kill', 16],
  ['', 10],
];

const asked = {
  tool: 'list_payments',
  items: 'payments',
  match: { reference: 'input.reference' },
  // The bank writes its ledger itself.
  endsWithProcess: true,
  timeoutMs: '5s',
};

/** How the proxy is told to settle lost answers, one after the other, and for which share of the kills. */
const ways = {
  rule: [
    { share: 0.5, reconcile: { ...asked, result: 'item' }, options: [] },
    // Nothing is given in place of an answer, and nothing is made again: the client is told in words.
    { share: 0.3, reconcile: asked, options: ['--retry', 'never'] },
    // What is not known at once stays unknown.
    { share: 0.2, reconcile: { ...asked, attempts: 1 }, options: [] },
  ],
  repeat: [{ share: 1, options: ['--retry', 'always'] }],
  blind: [{ share: 1, reconcile: { ...asked, match: { reference: { value: 'of nobody' } } }, options: [] }],
};

/**
 * Kills a bank behind the proxy `times` times while a client pays, before and after the effect, during the question what became of it, and at any
 * moment; and holds what the client read against the ledger.
 * @returns {Promise<import('./killBank.mjs').BankChaosReport>}
 */
export async function killBank({ times, seed, settles = 'rule', progress = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  mkdirSync(join(directory, 'plan'));
  const run = new Run({ directory, random: seededRandom(seed), progress });
  try {
    let kills = 0;
    for (const { share, reconcile, options } of ways[settles]) {
      kills += share * times;
      const session = await startBank(directory, reconcile, options);
      await run.payAll(session, Math.round(kills));
      await session.end();
      run.judged(session.judge);
    }
    return { seed, ...run.report() };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A bank behind a proxy, and its client. */
async function startBank(directory, reconcile, options) {
  const config = join(directory, 'unwedge.json');
  const charge = { attemptMs: '1500ms', ...(reconcile !== undefined && { reconcile }) };
  writeFileSync(config, JSON.stringify({ policies: { integrations: { bank: { tools: { charge } } } } }));
  const { PATH } = process.env;
  const session = await startSession({
    name: 'bank',
    server: [bank, directory],
    env: { PATH, HOME: directory, TMPDIR: directory, UNWEDGE_DB: join(directory, 'mcp.sqlite') },
    options: ['--config', config, '--start-timeout', '20s', ...options],
    client: new Client({ name: 'chaos', version: '1.0.0' }, { capabilities: {} }),
  });
  await session.client.listTools();
  return session;
}

/** The payments of one client, and what it was told of each. */
class Run {
  #directory;
  #session;
  #random;
  #progress;
  /** References that were said last not to be paid. */
  #unpaid = new Set();
  /** Over when a payment has ended that is not to be disturbed. */
  #calm = Promise.resolve();
  #wanted = 0;
  #killed = 0;
  #violations = [];
  #sums = { answers: 0, found: 0, done: 0, notDone: 0, unknown: 0, notStarted: 0, slowestMs: 0 };

  constructor({ directory, random, progress }) {
    this.#directory = directory;
    this.#random = random;
    this.#progress = progress;
  }

  get #kills() {
    const deaths = join(this.#directory, 'deaths');
    return this.#killed + (existsSync(deaths) ? statSync(deaths).size : 0);
  }

  /** Pays until the server has been killed so often, in all. */
  async payAll(session, kills) {
    this.#session = session;
    await Promise.all(Array.from({ length: atOnce }, () => this.#pay(kills)));
  }

  /** What was seen on the wire of a session, once that has ended. */
  judged({ violations }) {
    this.#violations.push(...violations);
  }

  /** Pays one reference after the other. */
  async #pay(kills) {
    while (this.#kills < kills) {
      const reference = `o-${++this.#wanted}`;
      const point = this.#point();
      if (point !== '' && point !== 'kill') writeFileSync(join(this.#directory, 'plan', reference), point);
      // What comes late is seen only of a server that lives so long.
      await this.#calm;
      const killing = point === 'kill' ? this.#kill() : undefined;
      const paying = this.#payOne(reference);
      if (point === 'slow') this.#calm = paying;
      await paying;
      await killing;
      this.#progress(this.#kills, this.#wanted);
    }
  }

  report() {
    const made = this.#ledger();
    const counts = new Map();
    for (const { reference } of made) counts.set(reference, (counts.get(reference) ?? 0) + 1);
    for (const [reference, count] of counts) if (count > 1) this.#wrong(`${reference} was paid ${count} times`);
    for (const reference of this.#unpaid)
      if (counts.has(reference)) this.#wrong(`${reference} was said not to be done, and was`);
    return { kills: this.#kills, wanted: this.#wanted, made: counts.size, ...this.#sums, violations: this.#violations };
  }

  /** As an agent does that goes by what it is told: what was not done is asked for again, what may have been is not. */
  async #payOne(reference) {
    for (let turn = 0; turn <= mostRepeats; turn++) {
      const again = [];
      let isAsked = false;
      // An agent that sees that it is asked what became of its call, and sends the same once more.
      const onprogress = ({ message }) => {
        if (isAsked || message?.startsWith('asks ') !== true) return;
        isAsked = true;
        if (this.#random() < 0.5) again.push(this.#charge(reference));
      };
      const first = await this.#charge(reference, onprogress);
      const said = [first, ...(await Promise.all(again))];
      // Of equal calls one may be made after another is known not to have been.
      const isUnpaid = said.every((each) => each === 'notDone' || each === 'notStarted');
      if (isUnpaid) this.#unpaid.add(reference);
      else this.#unpaid.delete(reference);
      if (!isUnpaid) return;
      if (this.#paid(reference).length > 0) this.#wrong(`${reference} is said not to be done, and is`);
      await wait(50);
    }
  }

  /** One call, and whether what it was answered is true. */
  async #charge(reference, onprogress) {
    const { client } = this.#session;
    const startedAt = Date.now();
    const options = { timeout: patienceMs, ...(onprogress !== undefined && { onprogress }) };
    const result = await client.callTool({ name: 'charge', arguments: { reference } }, options).catch((error) => error);
    this.#sums.answers++;
    this.#sums.slowestMs = Math.max(this.#sums.slowestMs, Date.now() - startedAt);
    if (result instanceof Error) return this.#wrong(`${reference} had no answer: ${result.message}`);
    const listed = this.#paid(reference);
    const said = this.#said(result);
    if (said !== 'answered') this.#sums[said]++;
    const text = result.content?.[0]?.text ?? '';
    if (said === 'answered' || said === 'found') {
      const { id } = result.structuredContent ?? {};
      if (!listed.some((payment) => payment.id === id))
        this.#wrong(`${reference} was answered with ${id}, which is not in the ledger`);
    } else if (said === 'done' && listed.length === 0)
      this.#wrong(`${reference} is said to be done, and is not: ${text}`);
    else if (said === 'unknown' && !/outcome unknown/.test(text))
      this.#wrong(`${reference} is unknown, and its words do not say so: ${text}`);
    return said;
  }

  /** What an answer says of the payment, by what programs read. */
  #said({ isError, _meta }) {
    if (isError !== true) return _meta?.['unwedge/reconciled'] === undefined ? 'answered' : 'found';
    const { outcome } = _meta?.['unwedge/failure'] ?? {};
    if (outcome === 'done') return 'done';
    if (outcome === 'not_done') return 'notDone';
    return outcome === 'not_started' ? 'notStarted' : 'unknown';
  }

  #point() {
    let left = this.#random() * points.reduce((sum, [, weight]) => sum + weight, 0);
    return points.find(([, weight]) => (left -= weight) < 0)?.[0] ?? '';
  }

  /** At some moment of a payment, whatever the server does by then. */
  async #kill() {
    await wait(this.#random() * 80);
    const pid = this.#session.serverPid();
    if (pid === undefined) return;
    try {
      process.kill(pid, 'SIGKILL');
      this.#killed++;
    } catch {
      // It went by itself meanwhile.
    }
  }

  #paid(reference) {
    return this.#ledger().filter((payment) => payment.reference === reference);
  }

  #ledger() {
    const file = join(this.#directory, 'ledger');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line));
  }

  #wrong(what) {
    if (this.#violations.length < 1000) this.#violations.push(what);
    return 'unknown';
  }
}
