import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { conformanceServer, unwedge } from './suite.ts';
import type { Bridged } from './worker.ts';

/** A command line that stands between the suite and its server. */
export interface Way {
  readonly name: string;
  /**
   * Its words. `{server}` stands for those of the stdio server, `{line}` for them as one word, `{url}` for the address of the same server by HTTP,
   * `{servers}` for a file that has the stdio one under `mcpServers`. One that has `{port}` listens there, at `/mcp`; any other speaks over its stdin and
   * stdout.
   */
  readonly words: readonly string[];
}

const limits = ['--no-cache', '--idle-timeout', '2s', '--start-timeout', '10s'];
const mcp = [...unwedge, 'mcp', ...limits];

/** What stands before a server where nothing does. */
export const bare: Way = { name: 'bare', words: ['{server}'] };

/** How unwedge stands before a server. */
export const ownWays: readonly Way[] = [
  { name: 'stdio', words: [...mcp, '--', '{server}'] },
  {
    name: 'listen',
    words: [...mcp, '--listen', '127.0.0.1:{port}', '--no-token', '--max-sessions', '200', '--', '{server}'],
  },
  { name: 'url', words: [...mcp, '--url', '{url}'] },
  { name: 'hub', words: [...mcp, '--servers', '{servers}'] },
];

const peer = (program: string): readonly string[] => [
  process.execPath,
  fileURLToPath(new URL(`../../bench/node_modules/${program}`, import.meta.url)),
];

/** Others that stand there, of the packages in `bench/`. */
export const peers: readonly Way[] = [
  {
    name: 'mcp-proxy',
    words: [...peer('mcp-proxy/dist/bin/mcp-proxy.mjs'), '--host', '127.0.0.1', '--port', '{port}', '--', '{server}'],
  },
  {
    name: 'supergateway',
    words: [
      ...peer('supergateway/dist/index.js'),
      ...['--stdio', '{line}', '--outputTransport', 'streamableHttp', '--stateful', '--port', '{port}'],
    ],
  },
  { name: 'mcp-remote', words: [...peer('mcp-remote/dist/proxy.js'), '{url}', '--transport', 'http-only'] },
];

/** Place of a server: an address, or a bridge to its stdin and stdout. */
export interface Front {
  readonly url?: string | undefined;
  readonly bridge?: Bridged | undefined;
  stop(): Promise<void>;
}

export interface FrontOptions {
  /** Of the server: `--reads`, `--fire DIR`. */
  readonly flags: readonly string[];
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts what a way needs, and gives the address at which the suite finds its server. */
export async function startFront({ words }: Way, { flags, directory, env }: FrontOptions): Promise<Front> {
  const server = [...(await conformanceServer()), ...flags];
  const has = (mark: string): boolean => words.some((word) => word.includes(mark));
  const [port, remotePort] = [await freePort(), await freePort()];
  const remote = has('{url}') ? keepUp([...server, '--http', '--port', `${remotePort}`], env) : undefined;
  const servers = join(directory, 'servers.json');
  const [command, ...args] = server;
  writeFileSync(servers, JSON.stringify({ mcpServers: { fire: { command, args } } }));
  const marks = { port, servers, line: server.join(' '), url: `http://127.0.0.1:${remotePort}/mcp` };
  const line = words.flatMap((word) =>
    word === '{server}'
      ? server
      : [word.replaceAll(/\{(\w+)\}/g, (mark, name: keyof typeof marks) => `${marks[name] ?? mark}`)],
  );
  if (remote !== undefined) await listening(remotePort);
  if (!has('{port}')) {
    const [program = '', ...rest] = line;
    return { bridge: { command: program, args: rest, env }, stop: () => Promise.resolve(remote?.stop()) };
  }
  const child = start(line, env);
  await listening(port);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      remote?.stop();
      await ended(child);
    },
  };
}

function start([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const stderr = process.env['CONFORMANCE_SHOW'] === undefined ? 'ignore' : 'inherit';
  return spawn(program, args, { env, stdio: ['ignore', 'ignore', stderr] });
}

/** A server elsewhere has somebody who starts it again when it has died. */
function keepUp(words: readonly string[], env: NodeJS.ProcessEnv): { stop(): void } {
  let child: ChildProcess;
  let over = false;
  const begin = (): void => {
    child = start(words, env);
    child.once('exit', () => {
      if (!over) setTimeout(begin, 50);
    });
  };
  begin();
  return {
    stop() {
      over = true;
      child.kill('SIGKILL');
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  if (child.exitCode !== null || child.signalCode !== null || !child.kill()) return;
  const kill = setTimeout(() => child.kill('SIGKILL'), 8000);
  await gone;
  clearTimeout(kill);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  return port;
}

async function listening(port: number): Promise<void> {
  for (let left = 1200; left > 0; left--) {
    const socket = connect(port, '127.0.0.1');
    const heard = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (heard) return;
    await wait(50);
  }
  throw new Error(`Nothing listens on port ${port} after a minute`);
}
