import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CommandLine } from '../cli/processes.ts';

/**
 * A client that does no more than write requests and find the answers' ids: the official one checks every message against a
 * schema, which takes longer than what is measured here.
 */
export interface EchoClient {
  /** Calls a tool. Resolves with the number of characters that came as its answer. */
  call(name: string, input: object): Promise<number>;
  /** Notifications received so far. */
  readonly notifications: () => number;
  /** The process that was started: the server, or what stands in front of it. */
  readonly pid: number;
  /** Ends the client's side, and waits for the process to end. */
  close(): Promise<void>;
}

/** The requests of a client's start, in order; a notification has no id. */
export const handshake = [
  {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
  },
  { method: 'notifications/initialized' },
] as const;

/** The message of a call; its id is its progress token too. */
export function callMessage(id: number, name: string, input: object): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: input, _meta: { progressToken: id } },
  });
}

/** The id of a message that has one at its beginning or, short as it is then, anywhere; undefined for a notification. */
export function idOf(line: string): number | undefined {
  const atFirst = /^\{"jsonrpc":"2\.0","id":(\d+)/.exec(line)?.[1];
  if (atFirst !== undefined) return Number(atFirst);
  if (/^\{"jsonrpc":"2\.0","method"/.test(line)) return undefined;
  return (JSON.parse(line) as { readonly id?: number }).id;
}

/** Connects to a server, or to a proxy in front of it, over the pipes of a process. */
export async function connectStdio([program, ...words]: CommandLine, env: NodeJS.ProcessEnv): Promise<EchoClient> {
  const child = spawn(program, words, { env, stdio: 'pipe' });
  const waiting = new Map<number, (characters: number) => void>();
  let notifications = 0;
  let rest: string[] = [];
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    const lines = chunk.split('\n');
    for (const [index, part] of lines.entries()) {
      if (index === lines.length - 1) {
        if (part !== '') rest.push(part);
        break;
      }
      const line = rest.length === 0 ? part : [...rest, part].join('');
      rest = [];
      const id = idOf(line);
      if (id === undefined) notifications++;
      else {
        waiting.get(id)?.(line.length);
        waiting.delete(id);
      }
    }
  });
  const ended = endOf(child);
  // A case that fails leaves nothing running.
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const request = (id: number, message: string): Promise<number> =>
    new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      child.stdin.write(`${message}\n`, (error) => {
        if (error) reject(error);
      });
    });
  const [initialize, initialized] = handshake;
  await request(0, JSON.stringify({ jsonrpc: '2.0', ...initialize }));
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...initialized })}\n`);
  let last = 0;
  return {
    call: (name, input) => request(++last, callMessage(last, name, input)),
    notifications: () => notifications,
    pid: child.pid ?? 0,
    async close() {
      child.stdin.end();
      await ended;
      process.off('exit', kill);
    },
  };
}

/** @throws Error when the process ends in any other way than by itself */
async function endOf(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = chunk.toString().trim()));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`What was connected to ended with ${signal ?? code}; it said last: ${said}`);
}
