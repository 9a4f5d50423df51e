import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';
import { expect, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export type Answer = (response: ServerResponse, query: string | null) => void;

export const found: Answer = (response, query) =>
  response.setHeader('content-type', 'application/json').end(`["${query}"]`);
export const unavailable: Answer = (response) => {
  // Tried again at once, so that the test waits for nothing.
  response.writeHead(503, { 'retry-after-ms': '0' }).end();
};

/** What is behind the host: it answers as it is told, and says when it is asked. */
export async function startUpstream() {
  const upstream = { answer: found, asked: [] as (string | null)[], hears: () => once(server, 'request') };
  const server: Server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://upstream').searchParams.get('q');
    upstream.asked.push(query);
    upstream.answer(response, query);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(upstream, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** The program of an example: of one in TypeScript what Node runs of it, beside the sources, so that it finds the packages by their names. */
function programOf(example: string): string {
  if (!example.endsWith('.ts')) return `examples/${example}`;
  const directory = `${root}/.build/example-${crypto.randomUUID()}`;
  mkdirSync(directory, { recursive: true });
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const program = `${directory}/${example.replace('.ts', '.mjs')}`;
  writeFileSync(program, transformSync(example, readFileSync(`${root}/examples/${example}`, 'utf8')).code);
  return program;
}

/** An example as a process of its own, on a port of its own. */
export async function startHost(
  example: string,
  env: NodeJS.ProcessEnv = {},
  upstream?: Awaited<ReturnType<typeof startUpstream>>,
) {
  const behind = upstream ?? (await startUpstream());
  const store = { STORE: `${temporaryDirectory()}/gateway.sqlite` };
  const host: ChildProcess = spawn(process.execPath, [programOf(example)], {
    cwd: root,
    env: { ...process.env, UPSTREAM: behind.url, PORT: '0', TIMEOUT_MS: '60000', ...store, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(host, 'exit');
  onTestFinished(async () => {
    host.kill('SIGKILL');
    await exited;
  });
  const lines = createInterface({ input: host.stdout as NodeJS.ReadableStream });
  const said: string[] = [];
  lines.on('line', (line) => said.push(line));
  /** The first line that begins so, once it is there. */
  const heard = async (begin: string): Promise<string | undefined> => {
    const line = (): string | undefined => said.find((each) => each.startsWith(begin));
    await expect.poll(line).toBeDefined();
    return line();
  };
  const url = await heard('http://');
  const search = (query: string, init?: RequestInit) => fetch(`${url}/search?q=${query}`, init);
  const messages = example.startsWith('express') ? '/customers/fay/messages' : '/messages';
  const say = (text: string, key?: string) =>
    fetch(`${url}${messages}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text, key }),
    });
  const stop = async (): Promise<unknown[]> => {
    host.kill('SIGTERM');
    return exited;
  };
  /** Resolves when the host has heard of it. */
  const beginStop = async (): Promise<void> => {
    host.kill('SIGTERM');
    await heard('stopping');
  };
  const kill = async (): Promise<unknown[]> => {
    host.kill('SIGKILL');
    return exited;
  };
  return { upstream: behind, url, said, heard, search, say, stop, beginStop, kill, exited };
}
