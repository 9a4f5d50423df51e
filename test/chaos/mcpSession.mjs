import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { importSource } from '../support/sourceModule.mjs';
import { McpJudge } from './mcpJudge.mjs';

const { listProcessesNow } = await importSource('src/actors/process/processTable.ts');

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/**
 * The official client in front of the proxy in front of a server; a judge reads what crosses the wire.
 * @param options - of the proxy
 * @param client - one of its own
 */
export async function startSession({ name, server, env, options, client = samplingClient() }) {
  const judge = new McpJudge(name);
  const words = [main, 'mcp', '--name', name, ...options, '--', process.execPath, ...server];
  const proxy = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(proxy, 'exit');
  let closing = false;
  const transport = wireTransport(proxy, judge, () => {
    if (!closing) judge.disconnected();
  });
  await client.connect(transport);
  return {
    name,
    judge,
    client,
    /** The server of the moment; undefined between two. */
    serverPid: () =>
      listProcessesNow().find(({ pid, parent, zombie }) => parent === proxy.pid && !zombie && runs(pid, server[0]))
        ?.pid,
    /** Ends the client's side of the pipe, and waits for the proxy to end by itself. */
    async end() {
      judge.finish();
      closing = true;
      proxy.stdin.end();
      const hung = setTimeout(() => proxy.kill('SIGKILL'), 60_000);
      const [code, signal] = await exited;
      clearTimeout(hung);
      if (code !== 0) judge.wrong(`the proxy ended with ${signal ?? code}`);
      await client.close();
    },
  };
}

function samplingClient() {
  const client = new Client({ name: 'chaos', version: '1.0.0' }, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    role: 'assistant',
    model: 'none',
    content: params.messages[0].content,
  }));
  return client;
}

/**
 * Whether a process has begun to run the server: until then it is a copy of the proxy, which waits for it; whoever stops it then has
 * stopped the proxy. Another child of the proxy guards what it started.
 */
function runs(pid, program) {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    return words.includes(program) && !words.includes(main);
  } catch {
    return false;
  }
}

/** The transport of a client over a process that is ours: what crosses it is counted, and how it ends is seen. */
function wireTransport({ stdin, stdout }, judge, onEnd) {
  const buffer = new ReadBuffer({ maxBufferSize: 64 * 1024 * 1024 });
  const transport = {
    async start() {
      stdin.on('error', (error) => transport.onerror?.(error));
      stdout.on('data', (chunk) => {
        buffer.append(chunk);
        for (let message = next(); message !== null; message = next()) {
          judge.received(message);
          transport.onmessage?.(message);
        }
      });
      stdout.once('end', () => {
        onEnd();
        transport.onclose?.();
      });
    },
    async send(message) {
      judge.sent(message);
      if (!stdin.write(serializeMessage(message))) await once(stdin, 'drain').catch(() => undefined);
    },
    async close() {
      stdin.end();
    },
  };
  const next = () => {
    try {
      return buffer.readMessage();
    } catch (error) {
      judge.wrong(`a line that is no message: ${error.message}`);
      return next();
    }
  };
  return transport;
}
