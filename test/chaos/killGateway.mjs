import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { seededRandom } from '../../dist/testing/index.js';
import { importSource } from '../support/sourceModule.mjs';

const { findDriver } = await importSource('src/store/sqlite/driver.ts');

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const program = fileURLToPath(new URL('gatewayUnderLoad.mjs', import.meta.url));
/** Messages without an answer that a driver keeps on their way. */
const onTheirWay = 40;
/** Messages that wait in all mailboxes before the driver holds back: a full mailbox would rightly refuse. */
const enough = 200;

/**
 * Ends a gateway under load at random points, `times` times: with SIGKILL, with SIGTERM, or with a drain that is too short. Then lets one
 * finish, and checks what is left.
 * @param {{path: string, kept: () => Promise<{messages: object[], calls: object[]}>}} [options.store] - where it is kept; a file without.
 * @param {{path: string, kept: () => Promise<{messages: object[], calls: object[]}>}} [options.movesTo] - where the file is moved after half of the ends.
 * @returns {Promise<{seed: number, kills: number, stops: number, accepted: number, redelivered: number, putBack: number, poisoned: number, lostCalls: number, violations: string[]}>}
 */
export async function killGateway({ times, seed, store, movesTo, progress = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  const { path: database, kept } = store ?? fileStore(join(directory, 'gateway.sqlite'));
  let files = { database, kept, journal: join(directory, 'journal') };
  const load = {
    random: seededRandom(seed),
    sent: 0,
    waiting: 0,
    unanswered: new Map(),
    accepted: new Set(),
    refused: [],
  };
  try {
    const ends = { kill: 0, term: 0, drain: 0 };
    for (let end = 1; end <= times; end++) {
      // Sometimes before it has started, mostly in the middle of its work.
      const endAfterLines = Math.floor(load.random() * 120);
      const how = ['kill', 'term', 'drain'][Math.floor(load.random() * 3)];
      ends[how]++;
      await run(files, load, { endAfterLines, how });
      progress(end, load.accepted.size);
      if (movesTo === undefined || end !== Math.ceil(times / 2)) continue;
      await execa(process.execPath, [main, 'migrate', '--from', database, '--to', movesTo.path]);
      files = { ...files, database: movesTo.path, kept: movesTo.kept };
    }
    await run(files, load, {});
    return { seed, kills: ends.kill, stops: ends.term + ends.drain, ...(await judge(files, load)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One life of the gateway; without `endAfterLines` it ends by itself once every message was answered and processed. */
async function run({ database, journal }, load, { endAfterLines, how }) {
  const child = spawn(process.execPath, [program, database, journal], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  // It is killed: what it did not read is nobody's loss.
  child.stdin.on('error', () => undefined);
  let lines = 0;
  let ended = false;
  const kill = () => {
    ended = true;
    child.kill('SIGKILL');
  };
  const end = () => {
    ended = true;
    if (how === 'drain') child.stdin.write(`stop ${Math.floor(load.random() * 5)}\n`);
    else child.kill(how === 'term' ? 'SIGTERM' : 'SIGKILL');
  };
  // A gateway that says nothing for so long hangs: that is the worst it could do.
  const hung = setTimeout(() => {
    load.refused.push('the gateway hung');
    kill();
  }, 60_000);
  if (endAfterLines === 0) kill();
  const send = (key, session) => {
    if (ended || child.stdin.writableEnded) return;
    load.unanswered.set(key, session);
    child.stdin.write(`${session} ${key}\n`);
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, key, waiting, durable] = line.split(' ');
    if (what === 'accepted' || what === 'processed') load.waiting = Number(waiting);
    // What was sent before the last kill and never answered may have been accepted: sent again under the same key, it is known.
    if (what === 'ready') for (const [unanswered, session] of load.unanswered) send(unanswered, session);
    if (what === 'accepted') {
      load.unanswered.delete(key);
      if (durable === 'true') load.accepted.add(key);
      else load.refused.push(`${key} was accepted without being durable`);
    }
    // Until the last owner is known to be dead; anything else is nobody's due.
    if (what === 'refused' && (waiting === 'owned_elsewhere' || waiting === 'unavailable'))
      setTimeout(() => send(key, load.unanswered.get(key)), 100);
    else if (what === 'refused' && waiting === 'stopped' && ended) continue;
    else if (what === 'refused') load.refused.push(`${key} was refused: ${waiting}`);
    if (endAfterLines === undefined) {
      if (load.unanswered.size === 0) child.stdin.end();
      continue;
    }
    if (!ended && ++lines >= endAfterLines) end();
    while (!ended && load.waiting < enough && load.unanswered.size < onTheirWay) {
      send(`k-${load.sent++}`, `s-${Math.floor(load.random() * 4)}`);
    }
  }
  clearTimeout(hung);
  await exited;
}

/** What a file has kept of messages and calls. */
function fileStore(path) {
  return {
    path,
    async kept() {
      const found = await findDriver();
      if (!found.ok) throw new Error(found.reason);
      const database = found.driver.open(path, { busyTimeoutMs: 5000 });
      const messages = database.prepare('SELECT key, state, deliveries, stops FROM unwedge_messages').all();
      const calls = database.prepare('SELECT id, state, result FROM unwedge_calls').all();
      database.close();
      return { messages, calls };
    },
  };
}

async function judge({ kept, journal }, { accepted, refused }) {
  const { messages: rows, calls } = await kept();
  const violations = [...refused];
  const notes = readNotes(journal);
  let redelivered = 0;
  let putBack = 0;
  let poisoned = 0;
  const messages = new Map();
  for (const row of rows) {
    if (messages.has(row.key)) violations.push(`${row.key} was accepted twice`);
    messages.set(row.key, row);
  }
  for (const key of accepted) {
    const row = messages.get(key);
    if (row === undefined) violations.push(`${key} was acknowledged and is gone`);
    else if (row.state === 'poison') poisoned++;
    else if (row.state !== 'done') violations.push(`${key} was acknowledged and is ${row.state}`);
    if (row?.deliveries > 1) redelivered++;
    if (row?.stops > 0) putBack++;
  }
  for (const [key, { state, deliveries }] of messages) {
    const times = notes.processed.get(key) ?? 0;
    if (state === 'done' && times === 0) violations.push(`${key} is done and was never processed`);
    // Only a kill between the end of the handler and its commit may have it processed again, and that is counted.
    if (times > deliveries) violations.push(`${key} was processed ${times} times in ${deliveries} deliveries`);
  }
  for (const { id, state, result } of calls) {
    if (state !== 'settled' || result === null) violations.push(`call ${id} has no result`);
  }
  const lostCalls = calls.filter(({ result }) => JSON.parse(result).synthetic === true).length;
  for (const pid of notes.children) if (isSilentChild(pid)) violations.push(`child ${pid} is left behind`);
  return { accepted: accepted.size, redelivered, putBack, poisoned, lostCalls, violations };
}

function readNotes(journal) {
  const notes = { processed: new Map(), children: [] };
  for (const line of readFileSync(journal, 'utf8').split('\n')) {
    const [what, word] = line.split(' ');
    if (what === 'processed') notes.processed.set(word, (notes.processed.get(word) ?? 0) + 1);
    if (what === 'child') notes.children.push(Number(word));
  }
  return notes;
}

/** The pid may have been given to somebody else since; where there is no /proc, none is found. */
function isSilentChild(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('86397');
  } catch {
    return false;
  }
}
