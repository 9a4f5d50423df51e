import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** A message as it came over the wire. */
export interface WireMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: Record<string, unknown>;
}

/** Runs an MCP server and talks to it line by line, as no client would put up with. */
export function converseWith(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { stdio: 'pipe', env });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const errors = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  let raw = '';
  child.stdout.on('data', (chunk: Buffer) => {
    raw += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const line = async (): Promise<string> => String((await lines.next()).value);
  return {
    child,
    exit,
    send,
    line,
    /** All of stdout so far. */
    raw: () => raw,
    error: async (): Promise<string> => String((await errors.next()).value),
    next: async (): Promise<WireMessage> => JSON.parse(await line()) as WireMessage,
    call: (id: number, name: string, given: object = {}): void =>
      send({ id, method: 'tools/call', params: { name, arguments: given, _meta: { progressToken: id } } }),
  };
}

export const textOf = ({ result }: WireMessage): string =>
  ((result?.['content'] ?? []) as { text: string }[]).map(({ text }) => text).join('\n');
