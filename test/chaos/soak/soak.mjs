import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../../dist/testing/index.js';
import { judgeCurves } from './curve.mjs';
import { commandsBeside, neighbours } from './neighbours.mjs';
import { file, Watched } from './watched.mjs';

/** Part of the time that everything may take to come to its level: of an hour ten minutes. */
const warmPart = 1 / 6;
/** Of each doing. */
const mostAtOnce = 2;

/**
 * Has a gateway and the programs beside it work for so long with everything on, and judges what they hold.
 * @returns {Promise<import('./soak.mjs').SoakReport>}
 */
export async function soak({
  minutes,
  seed,
  leak,
  only,
  everyMs = Math.min(5000, minutes * 10_000),
  progress = () => undefined,
}) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-soak-'));
  const [data, watch] = ['data', 'watch'].map((name) => join(directory, name));
  for (const each of [data, watch]) mkdirSync(each);
  const env = { PATH: process.env.PATH, HOME: data, TMPDIR: data, XDG_RUNTIME_DIR: data };
  const model = await upstream();
  const store = join(data, 'gateway.sqlite');
  const scope = { data, watch, env, everyMs, store, upstream: model.url, read: (path) => readFileSync(path, 'utf8') };
  const steady = new Steady(seededRandom(seed));
  const running = [];
  const violations = [];
  try {
    const settings = JSON.stringify({ store, upstream: model.url, seed, leak });
    const gateway = new Watched({ name: 'gateway', words: [file('gateway.mjs'), settings], scope });
    await gateway.said();
    running.push({ program: gateway });
    for (const [name, start] of Object.entries(neighbours))
      if (only === undefined || only.includes(name)) running.push(await start(scope));
    for (const { program, doings = {} } of running) steady.keepDoing(program.name, doings);
    steady.keepDoing('commands', commandsBeside(scope));
    const folder = await watchFolder(data, { minutes, everyMs, running, progress });
    await steady.stop();
    const curves = running.map(({ program }) => ({ name: program.name, samples: program.samples() }));
    const said = gateway.said();
    for (const { program, client, signal } of [...running].reverse()) {
      if (program.isOver) violations.push(`${program.name} ended: ${program.stderr.slice(-500)}`);
      const code = await program.end(signal);
      if (code !== 0 && code !== 143) violations.push(`${program.name} ended with ${code}`);
      violations.push(...(client?.violations ?? []));
      if (client?.open > 0) violations.push(`${program.name}: ${client.open} requests were never answered`);
    }
    const done = JSON.parse(await said);
    if (done.thrown > 0) violations.push(...scope.read(join(data, 'thrown')).split('\n').slice(0, 10));
    violations.push(...steady.violations);
    const judged = judgeCurves([...curves, { name: 'folder', samples: folder }], warmPart);
    violations.push(...judged.filter(({ rises }) => rises).map((each) => each.text));
    return {
      minutes,
      seed,
      warmPart,
      done,
      asked: steady.done,
      heldBack: steady.heldBack,
      judged,
      curves: [...curves, { name: 'folder', samples: folder }],
      violations,
    };
  } finally {
    await steady.stop();
    for (const { program } of running) if (!program.isOver) await program.end('SIGKILL');
    model.close();
    if (process.env.KEEP === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** Does things again and again, each at its own rate. */
class Steady {
  #random;
  #over = false;
  #open = new Map();
  heldBack = 0;
  violations = [];
  done = {};

  constructor(random) {
    this.#random = random;
  }

  keepDoing(name, doings) {
    for (const [what, [perSecond, once]] of Object.entries(doings)) this.#next(`${name} ${what}`, perSecond, once, 0);
  }

  /** Ends with what is under way. */
  async stop() {
    this.#over = true;
    await Promise.race([
      Promise.allSettled([...this.#open.values()].flatMap((each) => [...each])),
      wait(30_000, undefined, { ref: false }),
    ]);
  }

  #next(what, perSecond, once, n) {
    const go = () => {
      if (this.#over) return;
      // On a machine that stands still work does not pile up: what is held is to be that of a steady rate.
      if ((this.#open.get(what)?.size ?? 0) < mostAtOnce) this.#start(what, once, n);
      else this.heldBack++;
      this.#next(what, perSecond, once, n + 1);
    };
    setTimeout(go, (500 + this.#random() * 1000) / perSecond);
  }

  #start(what, once, n) {
    this.done[what] = (this.done[what] ?? 0) + 1;
    const done = Promise.resolve()
      .then(() => once(n))
      .catch((error) => {
        if (!this.#over && this.violations.length < 50)
          this.violations.push(`${what} ${n}: ${error?.message ?? error}`);
      });
    const open = this.#open.get(what) ?? new Set();
    this.#open.set(what, open.add(done));
    void done.finally(() => open.delete(done));
  }
}

/** Counts files and their bytes until the time is over, or a program has ended. */
async function watchFolder(data, { minutes, everyMs, running, progress }) {
  const samples = [];
  const deadline = Date.now() + minutes * 60_000;
  while (Date.now() < deadline && running.every(({ program }) => !program.isOver)) {
    await wait(Math.min(everyMs, Math.max(0, deadline - Date.now())));
    const sizes = readdirSync(data, { recursive: true }).map((name) => sizeOf(join(data, name)));
    samples.push({ at: Date.now(), files: sizes.length, bytes: sizes.reduce((sum, each) => sum + each, 0) });
    progress((minutes * 60_000 - (deadline - Date.now())) / 60_000);
  }
  return samples;
}

function sizeOf(path) {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** The API of a model, and of anything: well, ill, over its limit and silent, as its path says. */
async function upstream() {
  const events = (list) => list.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join('');
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  const streamed = events([
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ]);
  const whole = JSON.stringify({ ...message, content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn' });
  const paths = {
    '/ok': (response) => response.end('{}'),
    '/fails': (response) => response.writeHead(503).end(),
    '/limits': (response) => response.writeHead(429, { 'retry-after-ms': '20' }).end(),
    '/hangs': () => undefined,
  };
  const respond = async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const answer = paths[request.url];
    if (answer !== undefined) return answer(response);
    const isStream = body.includes('"stream":true');
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? streamed : whole);
  };
  const server = createServer((request, response) => void respond(request, response));
  server.on('request', (_, response) => response.on('error', () => undefined));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
