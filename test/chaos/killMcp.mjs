import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../dist/testing/index.js';
import { importSource } from '../support/sourceModule.mjs';
import { startSession } from './mcpSession.mjs';

const { listProcessesNow } = await importSource('src/actors/process/processTable.ts');

const installed = (name) =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
/** Calls of each session that are on their way at once. */
const atOnce = 6;
/** In this time the limits of the proxy have ended a server that was stopped. */
const goneMs = 60_000;
/** So long without an answer that counts, and what is judged hangs itself. */
const patienceMs = 90_000;

/**
 * Kills and stops MCP servers behind the proxy under load, `times` times in all, and checks what their clients saw.
 * @returns {Promise<import('./killMcp.mjs').McpChaosReport>}
 */
export async function killMcp({ times, seed, progress = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  const files = join(directory, 'files');
  const mark = `UNWEDGE_DB=${join(directory, 'mcp.sqlite')}`;
  mkdirSync(files);
  for (let index = 0; index < 10; index++) writeFileSync(join(files, `${index}.txt`), `file ${index}`);
  const memory = join(directory, 'memory.jsonl');
  writeFileSync(memory, JSON.stringify({ type: 'entity', name: 'Ann', entityType: 'person', observations: ['tea'] }));
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    TMPDIR: directory,
    UNWEDGE_DB: join(directory, 'mcp.sqlite'),
    MEMORY_FILE_PATH: memory,
  };
  const random = seededRandom(seed);
  const run = { left: times, done: 0, kills: 0, stops: 0, served: 0, progress };
  const options = ['--idle-timeout', '2s', '--start-timeout', '10s'];
  const loads = [
    { name: 'everything', server: [installed('everything')], calls: everythingCalls() },
    { name: 'filesystem', server: [installed('filesystem'), files], calls: filesystemCalls(files) },
    { name: 'memory', server: [installed('memory')], calls: memoryCalls() },
  ];
  const violations = [];
  const sums = { requests: 0, lost: 0, refused: 0, slowestMs: 0 };
  try {
    await Promise.all(
      loads.map(async ({ name, server, calls }) => {
        const session = await startSession({ name, server, env, options });
        await endure(session, calls, random, run);
        await session.end();
        const { judge } = session;
        violations.push(...judge.violations);
        sums.requests += judge.answered;
        sums.lost += judge.lost;
        sums.refused += judge.refused;
        sums.slowestMs = Math.max(sums.slowestMs, judge.slowestMs);
      }),
    );
    for (const pid of await leftBehind(mark)) violations.push(`process ${pid} is left behind`);
    return { seed, kills: run.kills, stops: run.stops, ...sums, violations };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Load on one session, and harm to its server, until all harm is done and a last call of each kind was served. */
async function endure(session, calls, random, run) {
  const { client, judge } = session;
  const state = { served: 0, over: false, lastServedAt: Date.now() };
  await client.listTools();
  const worker = async () => {
    while (!state.over && !hangs()) {
      const call = calls[Math.floor(random() * calls.length)];
      if (await served(client, judge, call, random)) {
        state.served++;
        run.served++;
        state.lastServedAt = Date.now();
      } else await wait(20);
    }
  };
  const hangs = () => Date.now() - state.lastServedAt > patienceMs;
  const workers = Array.from({ length: atOnce }, worker);
  while (run.left > 0 && !hangs()) {
    run.left--;
    const stop = random() < 0.3;
    // Every fifth time the next one does not even get to its first answer.
    const until = state.served + (random() < 0.2 ? 0 : Math.floor(random() * 40));
    while (state.served < until && !hangs()) await wait(1);
    await harm(session, stop, hangs);
    if (stop) run.stops++;
    else run.kills++;
    run.progress(++run.done, run.served);
  }
  const end = state.served + 3 * atOnce;
  while (state.served < end && !hangs()) await wait(5);
  state.over = true;
  if (hangs()) judge.wrong(`no call was served for ${patienceMs / 1000} s`);
  else {
    await Promise.all(workers);
    for (const call of calls)
      if (!call.mayFail && !(await served(client, judge, call, random)))
        judge.wrong(`${call.says} does not work any more`);
  }
}

/** Whether a call got what it is for; an honest failure is no violation, a wrong answer is. */
async function served(client, judge, { says, make }, random) {
  const { request, right, options } = make(random);
  try {
    const result = await request(client, { timeout: patienceMs, ...options });
    if (result.isError === true) return false;
    if (!right(JSON.stringify(result)))
      judge.wrong(`${says} was given the answer of another: ${JSON.stringify(result)}`);
    return true;
  } catch {
    return false;
  }
}

/** Kills or stops the server of the moment, as soon as there is one, and waits until it is gone. */
async function harm({ serverPid, judge }, stop, hangs) {
  let pid = serverPid();
  for (; pid === undefined && !hangs(); pid = serverPid()) await wait(10);
  if (pid === undefined) return;
  try {
    process.kill(pid, stop ? 'SIGSTOP' : 'SIGKILL');
  } catch {
    // It went by itself meanwhile.
  }
  const isThere = () => listProcessesNow().some((entry) => entry.pid === pid && !entry.zombie);
  const deadline = Date.now() + goneMs;
  while (isThere() && Date.now() < deadline) await wait(20);
  judge.serverDied();
  if (isThere())
    judge.wrong(`a server that was ${stop ? 'stopped' : 'killed'} is still there after ${goneMs / 1000} s`);
}

const tool = (says, make, extra = {}) => ({
  says,
  ...extra,
  make(random) {
    const { name, input, right, options } = make(random);
    return { request: (client, o) => client.callTool({ name, arguments: input }, undefined, o), right, options };
  },
});

function everythingCalls() {
  let number = 0;
  return [
    tool('echo', () => {
      const message = `message ${number++}`;
      return { name: 'echo', input: { message }, right: (text) => text.includes(`"Echo: ${message}"`) };
    }),
    tool('sum', (random) => {
      const a = Math.floor(random() * 1e6);
      return { name: 'get-sum', input: { a, b: 1 }, right: (text) => text.includes(`${a + 1}`) };
    }),
    tool('a long call with progress', () => ({
      name: 'trigger-long-running-operation',
      input: { duration: 0.3, steps: 3 },
      right: (text) => text.includes('completed'),
      options: { onprogress: () => undefined },
    })),
    tool('a sample', () => {
      const prompt = `prompt ${number++}`;
      return {
        name: 'trigger-sampling-request',
        input: { prompt, maxTokens: 5 },
        right: (text) => text.includes(`${prompt}\\`),
      };
    }),
    tool(
      'a call that is cancelled',
      (random) => ({
        name: 'trigger-long-running-operation',
        input: { duration: 0.2, steps: 1 },
        right: () => true,
        options: { signal: AbortSignal.timeout(1 + Math.floor(random() * 100)) },
      }),
      { mayFail: true },
    ),
    {
      says: 'a prompt',
      make: () => ({
        request: (client, options) => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Bern' } }, options),
        right: (text) => text.includes('Bern'),
      }),
    },
    {
      says: 'a list',
      make: () => ({
        request: (client, options) => client.listTools(undefined, options),
        right: (text) => text.includes('echo'),
      }),
    },
    {
      says: 'a resource',
      make(random) {
        const uri = `demo://resource/dynamic/text/${1 + Math.floor(random() * 100)}`;
        return {
          request: (client, options) => client.readResource({ uri }, options),
          right: (text) => text.includes(`"${uri}"`),
        };
      },
    },
  ];
}

function filesystemCalls(directory) {
  let number = 0;
  return [
    tool('reading', (random) => {
      const index = Math.floor(random() * 10);
      const path = join(directory, `${index}.txt`);
      return { name: 'read_text_file', input: { path }, right: (text) => text.includes(`file ${index}`) };
    }),
    tool('listing', () => ({
      name: 'list_directory',
      input: { path: directory },
      right: (text) => text.includes('9.txt'),
    })),
    tool('writing', () => {
      const path = join(directory, `new-${number++ % 20}.txt`);
      return { name: 'write_file', input: { path, content: 'x'.repeat(20_000) }, right: (text) => text.includes(path) };
    }),
  ];
}

/** It is only read: killed in the middle of writing it leaves half a file, and is then rightly out of order. */
function memoryCalls() {
  return [
    tool('the graph', () => ({ name: 'read_graph', input: {}, right: (text) => text.includes('Ann') })),
    tool('a search', (random) => {
      const query = random() < 0.5 ? 'tea' : 'coffee';
      return { name: 'search_nodes', input: { query }, right: (text) => text.includes('Ann') === (query === 'tea') };
    }),
  ];
}

/** Processes that have the mark in their environment, once those that were killed had the time to go; none where there is no /proc. */
async function leftBehind(mark) {
  const left = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(mark));
  try {
    for (let look = 0; look < 500 && left().length > 0; look++) await wait(20);
    return left();
  } catch {
    return [];
  }
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}
