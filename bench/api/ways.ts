import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type CommandLine, inNewHome, unwedge } from '../cli/processes.ts';
import { findPeer } from '../peers/load.ts';

const program = (path: string, ...words: string[]): CommandLine => [
  process.execPath,
  fileURLToPath(new URL(path, import.meta.url)),
  ...words,
];

/** The way of requests to an upstream: a proxy in front of it, which prints its address as `"url":"…"`, or the address of the upstream itself. */
export interface Way {
  /** @param port - a free one. */
  readonly line: (upstream: string, port: number) => CommandLine;
  /** Headers by which it finds the upstream. @defaultValue none */
  readonly headers?: ((upstream: string) => Readonly<Record<string, string>>) | undefined;
  /** Line that it prints once it listens. @defaultValue its address */
  readonly listens?: RegExp | undefined;
}

export const bare: Way = { line: (upstream) => program('./bareProxy.js', upstream) };
export const supervised: Way = { line: (upstream) => unwedge('api', '--upstream', upstream, '--json') };

const portkeyProgram = findPeer('@portkey-ai/gateway/build/start-server.js');

/** Portkey's gateway of its npm package; undefined where it is not installed. */
export const portkey: Way | undefined =
  portkeyProgram === undefined
    ? undefined
    : {
        line: (_, port) => [process.execPath, fileURLToPath(portkeyProgram), `--port=${port}`, '--headless'],
        headers: (upstream) => ({
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': `${upstream}/v1`,
          authorization: 'Bearer none',
        }),
        listens: /Ready for connections/,
      };

/** A proxy that runs. */
export interface Running {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
}

/** Starts an upstream and these in front of it, and ends them all. */
export async function inServers(
  ways: readonly Way[],
  work: (upstream: string, proxies: readonly Running[]) => Promise<void>,
): Promise<void> {
  await inNewHome(async (home) => {
    const env = { ...home, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
    const children: ChildProcess[] = [];
    const kill = (): void => {
      for (const child of children) child.kill('SIGKILL');
    };
    // A case that fails leaves nothing running.
    process.once('exit', kill);
    const start = async (line: CommandLine, listens?: RegExp): Promise<readonly [number, string]> => {
      const [command, ...words] = line;
      const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      return [child.pid ?? 0, await addressOf(child, listens)];
    };
    try {
      const [, upstream] = await start(program('./upstream.js'));
      const proxies: Running[] = [];
      for (const { line, headers, listens } of ways) {
        const port = await freePort();
        const [pid, url] = await start(line(upstream, port), listens);
        proxies.push({
          url: listens === undefined ? url : `http://127.0.0.1:${port}`,
          headers: headers?.(upstream) ?? {},
          pid,
        });
      }
      await work(upstream, proxies);
    } finally {
      kill();
      process.off('exit', kill);
      for (const child of children) if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });
}

/** Line of a server that listens: its address where it is asked for by nothing else. */
async function addressOf(child: ChildProcess, listens = /"url": ?"([^"]+)"/): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      text += String(chunk);
      const found = listens.exec(text);
      if (found !== null) resolve(found[1] ?? '');
    });
    child.once('exit', () => reject(new Error(`${child.spawnargs.join(' ')} ended: ${text}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
