import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { CommandLine } from '../cli/processes.ts';
import { callMessage, type EchoClient, handshake, idOf } from './client.ts';

interface Answer {
  readonly status: number;
  readonly session: string | undefined;
  readonly characters: number;
  readonly notifications: number;
}

/**
 * Connects to a proxy that serves streamable HTTP in front of a server; connections are kept.
 * @param lineOf - gets the port it has to listen on
 */
export async function connectHttp(lineOf: (port: number) => CommandLine, env: NodeJS.ProcessEnv): Promise<EchoClient> {
  const port = await freePort();
  const [program, ...words] = lineOf(port);
  const child = spawn(program, words, { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  // A case that fails leaves nothing running.
  process.once('exit', () => child.kill('SIGTERM'));
  const agent = new Agent({ keepAlive: true });
  const [initialize, initialized] = handshake;
  let session: string | undefined;
  const post = (body: string): Promise<Answer> => send(port, agent, session, body);
  const start = JSON.stringify({ jsonrpc: '2.0', ...initialize });
  let first: Answer | undefined;
  while (first === undefined) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode} before it listened`);
    first = await post(start).catch(() => undefined);
    if (first === undefined) await wait(20);
  }
  ({ session } = first);
  await post(JSON.stringify({ jsonrpc: '2.0', ...initialized }));
  let last = 0;
  let notifications = 0;
  return {
    async call(name, input) {
      const answer = await post(callMessage(++last, name, input));
      if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`);
      notifications += answer.notifications;
      return answer.characters;
    },
    notifications: () => notifications,
    pid: child.pid ?? 0,
    async close() {
      agent.destroy();
      child.kill('SIGTERM');
      const hung = setTimeout(() => child.kill('SIGKILL'), 5000);
      await exited;
      clearTimeout(hung);
    },
  };
}

function send(port: number, agent: Agent, session: string | undefined, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    };
    const request = httpRequest(
      { port, host: '127.0.0.1', path: '/mcp', method: 'POST', agent, headers },
      (response) => {
        const chunks: string[] = [];
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { 'mcp-session-id': given } = response.headers;
          const answer = { status: response.statusCode ?? 0, session: typeof given === 'string' ? given : undefined };
          resolve({ ...answer, ...read(chunks.join('')) });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Of a body that is one message, or a stream of events with a message each. */
function read(body: string): Pick<Answer, 'characters' | 'notifications'> {
  const messages = body.startsWith('{')
    ? [body]
    : body
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => line.slice('data: '.length));
  let characters = 0;
  let notifications = 0;
  for (const message of messages) {
    if (idOf(message) === undefined) notifications++;
    else characters = message.length;
  }
  return { characters, notifications };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
