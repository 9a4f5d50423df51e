import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const scripted = fileURLToPath(new URL('../fixtures/mcpScripted.mjs', import.meta.url));

export interface Reply {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: { readonly content?: readonly { readonly text: string }[]; readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface StartedMcp {
  readonly child: ChildProcessWithoutNullStreams;
  readonly stderr: () => string;
  /** Bytes on stdout, as they came. */
  readonly stdout: () => string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  raw(line: string): void;
  ask(method: string, params?: object): Promise<Reply>;
  call(args: object): Promise<Reply>;
  open(): Promise<void>;
}

export interface McpHome {
  readonly directory: string;
  readonly db: string;
  readonly env: NodeJS.ProcessEnv;
}

export function makeHome(): McpHome {
  const directory = temporaryDirectory();
  const db = join(directory, 'events.sqlite');
  const { PATH } = process.env;
  return {
    directory,
    db,
    env: { PATH, HOME: directory, TMPDIR: directory, XDG_RUNTIME_DIR: directory, UNWEDGE_DB: db },
  };
}

/** `unwedge mcp` over the scripted server, or over the command that is given (none: without `--`), as a process of its own. */
export function startMcp(
  { directory, env }: McpHome,
  words: readonly string[] = [],
  command: readonly string[] = [process.execPath, scripted, directory],
): StartedMcp {
  const child = spawn(process.execPath, [main, 'mcp', ...words, ...(command.length === 0 ? [] : ['--', ...command])], {
    env,
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let stdout = '';
  let stderr = '';
  let rest = '';
  let lastId = 0;
  const waiting = new Map<unknown, (reply: Reply) => void>();
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const reply = JSON.parse(line) as Reply;
      if (reply.method === undefined) waiting.get(reply.id)?.(reply);
    }
  });
  const started: StartedMcp = {
    child,
    exited,
    stderr: () => stderr,
    stdout: () => stdout,
    raw: (line) => void child.stdin.write(`${line}\n`),
    ask(method, params = {}) {
      const id = ++lastId;
      const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
      started.raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return reply;
    },
    call: (args) => started.ask('tools/call', { name: 'act', arguments: args }),
    async open() {
      await started.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
      started.raw('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    },
  };
  return started;
}

export const textOf = (reply: Reply): string => reply.result?.content?.[0]?.text ?? '';
