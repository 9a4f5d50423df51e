import { createServer } from 'node:http';
import { FaultyMcpHttpPeer } from './faultyMcpHttpPeer.ts';
import { type FaultyMcpHttpServerOptions, readRules, readTools, scriptOf } from './faultyMcpHttpScript.ts';
import { Changes, close, listen } from './loopback.ts';
import type { FaultyTool } from './mcpFaults.ts';
import type { McpHttpFaultRule } from './mcpHttpFaults.ts';
import type { ReceivedMcpRequest } from './mcpHttpRequests.ts';
import { TcpFront } from './tcpFront.ts';

/** A server that runs. Its counts are since its start, restarts and all. */
export interface FaultyMcpHttpServer {
  /** URL of its one endpoint. */
  readonly url: string;
  /** Every request that arrived whole, in order. */
  readonly received: readonly ReceivedMcpRequest[];
  /** Counts them; `on` takes the words of a rule. @param on - by default all requests. */
  requests(on?: string): number;
  /** Counts how often tools ran, or this tool, whatever became of the answer. */
  ran(tool?: string): number;
  /** Requests that the client gave up before their answer had ended. */
  readonly aborted: number;
  /** Connections that the client has not ended. */
  readonly openSockets: number;
  /** Answers and standing streams that have not ended. */
  readonly openResponses: number;
  /** Standing streams: GET streams, and listens of the second era. */
  readonly standingStreams: number;
  /** Sessions that it knows. */
  readonly sessions: number;
  /** Resolves when the condition holds, asked again after each change of what is above. */
  until(condition: () => boolean): Promise<void>;
  /** Takes the place of the script; counting begins anew. */
  setFaults(faults: readonly McpHttpFaultRule[]): void;
  /** Lists these from now on, and says so on the standing streams. */
  setTools(tools: readonly (string | FaultyTool)[]): void;
  /** Sends a notification on all standing streams. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void;
  /** Ends the standing streams; new ones may be opened. @param how - by default `end`. */
  endStreams(how?: 'end' | 'reset'): void;
  /** Answers the requests that are on hold. */
  release(): void;
  /** Knows no session any more. */
  forgetSessions(): void;
  /** Resets all connections; new ones are accepted. */
  cut(): void;
  /** From now on nothing gets through, on no connection, old or new. */
  blackHole(): void;
  /** Ends the black hole, and the connections that fell into it. */
  heal(): void;
  /** Refuses connections from now on, as a server that is down. */
  stop(): Promise<void>;
  /** Is back, on the same port, and knows no session. */
  start(): Promise<void>;
  /** Ends everything for good. */
  close(): Promise<void>;
}

/**
 * An MCP server over Streamable HTTP on a free port of 127.0.0.1 that does wrong what the script says, and the same each time: a
 * counterparty for tests of clients, proxies and supervisors. It speaks both eras of the protocol by hand, needs nothing but Node, and
 * counts what tests ask for: requests, effects, connections.
 *
 * Besides the listed tools it has `received`, as `faultyMcpServer` has.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * // The second search runs, but its answer is lost; the third finds that the session is gone.
 * const server = await startFaultyMcpHttpServer({
 *   faults: [
 *     { tool: 'search', nth: 2, do: 'lost_stream' },
 *     { tool: 'search', nth: 3, do: 'lose_session' },
 *   ],
 * });
 * // … connect a client to server.url
 * console.log(server.ran('search'), server.requests('initialize'));
 * await server.close();
 */
export async function startFaultyMcpHttpServer(options: FaultyMcpHttpServerOptions = {}): Promise<FaultyMcpHttpServer> {
  const changes = new Changes();
  const peer = new FaultyMcpHttpPeer(scriptOf(options), changes.told);
  const http = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }, peer.take);
  const front = new TcpFront(await listen(http), changes.told);
  await front.listen();
  const origin = `http://127.0.0.1:${front.port}`;
  peer.origin = origin;
  peer.onBlackHole = () => front.blackHole();

  return {
    url: `${origin}/mcp`,
    received: peer.requests.received,
    requests: (on = 'any') => peer.requests.count(on),
    ran: (tool) => peer.ran(tool),
    get aborted() {
      return peer.requests.aborted;
    },
    get openSockets() {
      return front.open;
    },
    get openResponses() {
      return peer.requests.open;
    },
    get standingStreams() {
      return peer.sessions.standing;
    },
    get sessions() {
      return peer.sessions.count;
    },
    until: (condition) => changes.until(condition),
    setFaults: (faults) => peer.setFaults(readRules(faults)),
    setTools: (tools) => peer.setTools(readTools(tools)),
    notify: (method, params = {}) => peer.sessions.notify(method, params),
    endStreams: (how = 'end') => peer.endStreams(how),
    release: () => peer.release(),
    forgetSessions() {
      peer.sessions.forget();
      changes.told();
    },
    cut() {
      peer.requests.abandon();
      front.reset();
    },
    blackHole: () => front.blackHole(),
    heal() {
      peer.requests.abandon();
      front.heal();
    },
    async stop() {
      peer.requests.abandon();
      await front.refuse();
    },
    async start() {
      peer.sessions.forget();
      await front.listen();
    },
    async close() {
      peer.requests.abandon();
      await front.refuse();
      await close(http);
    },
  };
}
