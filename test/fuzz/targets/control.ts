import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSelfAnswer, readStatusAnswer, readTreeAnswer, readWhyAnswer } from '../../../src/control/answers.ts';
import { readItem } from '../../../src/control/items.ts';
import { createGateway } from '../../../src/index.ts';
import { counted } from '../proxyWorld.ts';
import { rpc } from '../seeds.ts';
import { must, pieces, type Target } from '../target.ts';

const requests = [
  rpc({ id: 1, method: 'self' }) + rpc({ id: 2, method: 'status' }),
  rpc({ id: 3, method: 'why', params: { session: 'a' } }) + rpc({ id: 'x', method: 'tree' }),
  rpc({ id: 4, method: 'reset', params: { name: 'kb', by: 'me' } }),
  rpc({ id: 5, method: 'cancel', params: { name: 'a', target: 'x', by: 'me', why: 'y' } }),
  rpc({ id: 6, method: 'restart', params: { name: 'kb' } }) + rpc({ method: 'probe', params: {} }),
];
const answers = [
  { id: 'r', pid: 1, name: 'g', startedAt: 0 },
  {
    integrations: [{ integration: 'kb', state: 'up', circuit: 'closed', inFlight: 0, waiting: 0, abandoned: 0 }],
    sessions: [{ session: 'a', state: 'idle' }],
    stopping: { inMs: 1 },
  },
  { id: 'root', kind: 'supervisor', state: 'running', children: [{ id: 'kb', state: 'running', restarts: 0 }] },
  { session: 'a', rules: [{ rule: 'idle', inMs: 5 }], calls: [], turn: { startedAt: 0 } },
];

/** Lines on the socket of a live gateway: each request gets one answer; and what a client makes of answers that are none. */
export async function control(): Promise<Target> {
  const home = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
  process.env['XDG_RUNTIME_DIR'] = home;
  const gateway = createGateway({ store: join(home, 'g.sqlite'), logger: false, childGuard: false });
  gateway.integration('kb', {}, () => 'fine');
  gateway.session('a', { onMessage: () => undefined });
  await gateway.start();
  const path = readdirSync(home, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.sock')) ?? '';
  must(path !== '', 'the gateway has no socket');
  return {
    seeds: [...requests, ...answers.map((answer) => JSON.stringify(answer)), rpc({ method: 'next', params: { a: 1 } })],
    words: ['"method":"why"', '"method":"restart"', '"method":"events"', '"a"', '"kb"'],
    mostSteps: (bytes) => 1_000_000 + 2000 * bytes,
    async run(input, random) {
      const text = input.toString('utf8');
      for (const line of text.split('\n')) {
        readItem(line);
        const value = parsed(line);
        for (const read of [readSelfAnswer, readStatusAnswer, readTreeAnswer, readWhyAnswer])
          JSON.stringify(read(value));
      }
      const got = await ask(join(home, path), pieces(input, random));
      // Also what is no request is answered under the id that it has.
      const asked = counted(text, 'ids');
      const said = counted(got, 'answers');
      // One that streams is the last of its client.
      if (/"method": ?"(?:events|watch|follow|inspect|machines)/.test(text)) return;
      for (const [key, count] of asked)
        must((said.get(key) ?? 0) <= count, `${key} was asked ${count} times and answered ${said.get(key)} times`);
      for (const key of said.keys()) must(asked.has(key) || text.includes(key), `${key} was answered and never asked`);
      for (const line of got.split('\n'))
        must(line === '' || parsed(line) !== undefined, `a line is no JSON: ${line.slice(0, 100)}`);
    },
    async close() {
      await gateway.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes, ends, and reads to the end. */
function ask(path: string, chunks: readonly Buffer[]): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket: Socket = createConnection({ path, allowHalfOpen: true });
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    socket.on('end', () => socket.destroy());
    for (const chunk of chunks) socket.write(chunk);
    socket.end('\n');
  });
}
