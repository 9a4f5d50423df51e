import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { comparable, record, type Recording, type Transcript } from './recording.ts';
import { commandLine, offer, type Way } from './ways.ts';

/** A client of the official SDK that is connected, and what crosses its wire. */
export interface Session {
  readonly client: Client;
  readonly wire: Recording;
  /** A directory the server may use; empty at first. */
  readonly directory: string;
  /** Whether the client was told that its connection is gone. */
  readonly disconnected: () => boolean;
  /** What the client was told besides answers. */
  readonly errors: readonly Error[];
}

/** One thing a client does with a server, with what it expects to see. */
export interface Scenario {
  readonly says: string;
  /** The server's program and arguments, given the session's directory. */
  readonly server: (directory: string) => readonly string[];
  readonly capabilities?: ClientCapabilities | undefined;
  /** Before the connection is made: handlers. */
  readonly prepare?: ((client: Client) => void) | undefined;
  readonly run: (session: Session) => Promise<void>;
}

async function transportOf(
  way: Way,
  server: readonly string[],
  env: Record<string, string>,
): Promise<StdioClientTransport | StreamableHTTPClientTransport> {
  if (way !== 'by HTTP') return new StdioClientTransport({ ...commandLine(way, server), env, stderr: 'ignore' });
  const { url, requestInit } = await offer(server, env);
  return new StreamableHTTPClientTransport(url, { requestInit });
}

/** Plays a scenario to its end and hands back what crossed the wire. */
export async function play(way: Way, scenario: Scenario): Promise<Transcript> {
  const { server, capabilities = {}, prepare, run } = scenario;
  const home = temporaryDirectory();
  const directory = join(home, 'files');
  mkdirSync(directory);
  const env = { HOME: home, UNWEDGE_DB: join(home, 'mcp.sqlite'), MEMORY_FILE_PATH: join(directory, 'memory.jsonl') };
  const transport = await transportOf(way, server(directory), env);
  const wire = record(transport);
  const client = new Client({ name: 'conformance', version: '1.0.0' }, { capabilities });
  let closed = false;
  const errors: Error[] = [];
  client.onclose = () => {
    closed = true;
  };
  client.onerror = (error) => {
    errors.push(error);
  };
  onTestFinished(() => client.close());
  prepare?.(client);
  await client.connect(transport);
  // What the server says of itself once it is initialized is said before it answers this.
  await client.ping();
  await run({ client, wire, directory, disconnected: () => closed, errors });
  const transcript = comparable({ sent: [...wire.sent], received: [...wire.received] }, home);
  await client.close();
  return transcript;
}
