import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import type { createGateway as CreateGateway } from '../../src/index.ts';
import type { Connect } from './cases.ts';
import type { EchoClient } from './client.ts';

const program = fileURLToPath(new URL('./httpEchoServer.js', import.meta.url));
const built = new URL('../../../dist/index.js', import.meta.url).href;

/** A remote server that answers at once, and how it is ended. */
export async function startHttpEcho(): Promise<{ readonly url: string; readonly end: () => Promise<void> }> {
  const { child, url } = await startServer();
  return { url, end: () => end(child) };
}

async function startServer(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'ignore'] });
  // A case that fails leaves nothing running.
  process.once('exit', () => child.kill('SIGKILL'));
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: `http://127.0.0.1:${String(port).trim()}/mcp` };
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A remote server of a gateway: `gateway.mcpServer(name, { url })`. */
export const connectSupervised: Connect = async () => {
  const { child, url } = await startServer();
  const { createGateway } = (await import(built)) as { readonly createGateway: typeof CreateGateway };
  const gateway = createGateway();
  const server = gateway.mcpServer('echo', { url, effect: 'readOnly' });
  await gateway.start();
  await server.tools();
  return clientOf(child, {
    async call(name, input) {
      const outcome = await server.call({ name, arguments: { ...input } });
      if (!outcome.ok) throw new Error(outcome.failure.message);
      return outcome.value.content.length;
    },
    close: () => gateway.stop(),
  });
};

/** The same server, and the official client with its own transport. */
export const connectOfficial: Connect = async () => {
  // It has one signal for all its requests, and undici listens to it for each: its warnings are not what is measured.
  process.removeAllListeners('warning');
  const { child, url } = await startServer();
  const sdk = await import('@modelcontextprotocol/client');
  const client: Client = new sdk.Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url)));
  return clientOf(child, {
    async call(name, input) {
      const { content } = await client.callTool({ name, arguments: { ...input } });
      return content.length;
    },
    close: () => client.close(),
  });
};

function clientOf(child: ChildProcess, own: Pick<EchoClient, 'call' | 'close'>): EchoClient {
  return {
    call: own.call,
    notifications: () => 0,
    pid: child.pid ?? 0,
    async close() {
      await own.close();
      await end(child);
    },
  };
}
