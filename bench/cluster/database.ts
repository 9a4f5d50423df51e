import type { StoredCall, StoredMessage } from '../../src/sessions/sessionStore.ts';
import type { ToolResult } from '../../src/sessions/toolResult.ts';
import { connectTo, hasPostgres, type PostgresServer, startPostgres } from '../../test/support/postgresServer.ts';

export const hasServer = hasPostgres;

/** Where messages and calls are kept. */
export interface Keeping {
  /** Keeps messages, `inFlight` at a time. */
  send(messages: readonly Sent[], inFlight: number): Promise<void>;
  /** Keeps calls one after the other: a row before each is dispatched, its result after. */
  call(calls: readonly StoredCall[]): Promise<void>;
  close(): Promise<void>;
}

/** A message for one of the sessions. */
export interface Sent extends StoredMessage {
  readonly session: string;
}

export const sessions: readonly string[] = Array.from({ length: 100 }, (_, index) => `agent:${index}`);
export const result: ToolResult = { status: 'ok', value: { found: 3, text: 'three results' }, retries: 0 };

let server: Promise<PostgresServer> | undefined;
let schemas = 0;

/** A schema of its own in the one server of the benchmark, which keeps what it has committed over a power cut. */
export async function newPlace(): Promise<{ readonly url: string; readonly schema: string }> {
  server ??= startPostgres([]);
  return { url: await (await server).database(), schema: `bench_${++schemas}` };
}

/** A connection by `pg` alone. */
export const connect = connectTo;
