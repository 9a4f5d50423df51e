import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { CommandLine } from '../cli/processes.ts';

/** A client that does no more than read lines: the official one checks each against a schema. */
export interface PlainAcpClient {
  /** The process that was started: the agent, or what stands in front of it. */
  readonly pid: number;
  /** Has a prompt answered. Resolves with the ages of its updates when they were read, in µs. */
  prompt(count: number, paceMs?: number, burst?: number): Promise<readonly number[]>;
  /** Makes a request that is no prompt. */
  ask(): Promise<void>;
  /** Ends the client's side, and waits for the process to end. */
  close(): Promise<void>;
}

/** Connects, and opens a session. */
export async function connectAcp([program, ...words]: CommandLine, env: NodeJS.ProcessEnv): Promise<PlainAcpClient> {
  const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const waiting = new Map<number, () => void>();
  let ages: number[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const now = process.hrtime.bigint();
    const sent = /"text":"(\d+) /.exec(line)?.[1];
    if (sent !== undefined) {
      ages.push(Number(now - BigInt(sent)) / 1000);
      return;
    }
    const id = Number(/"id":(\d+)/.exec(line)?.[1]);
    waiting.get(id)?.();
    waiting.delete(id);
  });
  let last = 0;
  const request = (method: string, params: object): Promise<void> =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  await request('session/new', { cwd: '/', mcpServers: [] });
  return {
    pid: child.pid ?? 0,
    ask: () => request('session/list', {}),
    async prompt(count, paceMs = 0, burst = 1) {
      ages = [];
      await request('session/prompt', {
        sessionId: 's',
        prompt: [{ type: 'text', text: `${count} ${paceMs} ${burst}` }],
      });
      return ages;
    },
    async close() {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
      process.off('exit', kill);
    },
  };
}
