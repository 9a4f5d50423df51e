import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { agentKind } from '../../agents/conversation/agent.ts';
import { presetOf } from '../../agents/conversation/agentTypes.ts';
import { createDashboard } from '../dashboard/dashboard.ts';
import { DatabaseSource } from '../dashboard/databaseSource.ts';
import { createGateway } from '../../src/gateway/face.ts';
import { defaultPolicy } from '../../src/policy/face.ts';
import { type GatewayOptions, registryOf, systemClock } from '../../src/runtime/face.ts';
import { type HttpServerOptions, startHttpServer } from '../server/httpServer.ts';
import { type HistoryEntry, checkSessionOptions } from '../../src/sessions/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import { AgentTurns } from './agentTurns.ts';
import { createApi } from './api.ts';
import { declareHooks, declareServers } from './declareServed.ts';
import { createHandlers } from './handlers.ts';
import { createMessageHandler } from './messageHandler.ts';
import { Places } from './places.ts';
import { readinessOf } from './readiness.ts';
import type { Served } from './serveTypes.ts';
import { SessionFeed } from './sessionFeed.ts';
import { SessionHost } from './sessionHost.ts';

export interface ServeOptions extends Served, Pick<HttpServerOptions, 'port'> {
  readonly gateway: GatewayOptions;
  /** Reads the database of the gateway. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
  /** Token that requests show, but for those of whether it lives and the dashboard. @defaultValue none is asked for */
  readonly token?: string | undefined;
  /** @defaultValue '127.0.0.1' */
  readonly host?: string | undefined;
  /** Sessions that are held at a time. @defaultValue 10000 */
  readonly maxSessions?: number | undefined;
  /** Told the next address of the dashboard when one was used. @defaultValue nobody is told */
  readonly dashboardUsed?: ((url: string) => void) | undefined;
}

export interface Serving {
  readonly origin: string;
  /** Address of the dashboard; good for one browser. */
  readonly dashboardUrl: string;
  /** Lets what is under way end within so many ms, then cuts it and ends. Called again it ends at once. Never rejects. */
  stop(drainMs?: number): Promise<void>;
}

/** Open at a time: readers of events, of which there are 1000 at the most, leave room for others. */
const maxConnections = 5000;
/** Time that clients may take for what is left when everything has ended, in ms. */
const lingerMs = 1000;

/**
 * A gateway as a process of its own: its sessions by HTTP, over the MCP servers, agents and hooks that are configured.
 * @throws TypeError or RangeError that names what is wrong with the options.
 * @throws Error when the port cannot be had, or the store.
 */
export async function startServe(options: ServeOptions): Promise<Serving> {
  const { read, servers, agents, hooks, maxSessions = 10_000 } = options;
  const clock = options.gateway.clock ?? systemClock;
  const gateway = createGateway({ ...options.gateway, inbox: options.gateway.inbox ?? true, kinds: [agentKind] });
  const registry = registryOf(gateway);
  if (registry === undefined) throw new TypeError('A gateway has a registry');
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  const feed = new SessionFeed();
  const integrations = declareServers(gateway, servers);
  const { runtime } = registry;
  const stopServers = (): void => {
    for (const name of integrations.keys()) void runtime.root.stopChild(`mcp:${name}`);
  };
  // All at once: one after the other, servers that do not obey would each add some seconds to the time of the stop.
  runtime.join({ afterCalls: stopServers });
  const turns = new AgentTurns(
    gateway,
    agents,
    clock,
    (name, { backend, policy }) => runtime.policies.policyOf(name, policy, presetOf(backend)),
    (session, agent, event) => feed.tell(session, { type: 'agent', agent, event, at: clock.wallNow() }),
    runtime.redactAnswer,
  );
  declareHooks(gateway, hooks);
  const historyOf = (id: string): readonly HistoryEntry[] => registry.sessions.get(id)?.history ?? [];
  const onMessage = createMessageHandler({ gateway, servers: integrations, agents: turns.names, historyOf });
  const sessions = new SessionHost({
    ...{ gateway, read, onMessage, most: maxSessions },
    isStopping: () => phase === 'stopping',
    sessions: registry.sessions,
    clock,
  });
  const { toolCallMs } = checkSessionOptions({ ...options.gateway.sessions, onMessage }).watchdog;
  const places = new Places(clock, (name) => {
    const server = integrations.get(name)?.policy;
    const { maxInFlight, queueLength, limits } = server ?? turns.policyOf(name) ?? defaultPolicy;
    const limitMs = server === undefined ? limits.overallMs : Math.min(limits.overallMs, toolCallMs);
    return { maxInFlight, queueLength, limitMs };
  });
  gateway.on('*', (fact) => {
    const { session } = fact as { readonly session?: unknown };
    if (typeof session !== 'string') return;
    feed.tell(session, fact);
    // Its events from now on are told elsewhere.
    if (fact.type === 'session.taken_over' || fact.type === 'session.given_back') feed.leave(session);
    if (fact.type !== 'session.closed' || fact.because === 'idle' || fact.because === 'room') return;
    turns.leave(session);
    feed.leave(session);
    if (fact.because === 'forgotten') feed.forget(session);
  });

  let origin = '';
  const dashboard = createDashboard({
    ...{ clock, source: new DatabaseSource({ clock, read }), origin: () => origin, used: options.dashboardUsed },
  });
  const api = createApi(
    createHandlers({
      ...{ gateway, clock, sessions, feed, servers: integrations, agents: turns.names, places, read },
      isStopping: () => phase === 'stopping',
      readiness: () =>
        readinessOf({
          phase,
          keeps: gateway.store?.degraded === false,
          untaken: gateway.untaken(),
          isFull: sessions.isFull,
        }),
      dashboardUrl: () => dashboard.url,
    }),
    { token: options.token, isStarting: () => phase === 'starting' },
  );
  const listener = getRequestListener(api.fetch, { overrideGlobalObjects: false });
  const server = await startHttpServer({
    ...{ clock, host: options.host, port: options.port, holdsProcess: true, isLinked: true, maxConnections },
    answer: (request, response) => answer(request, response),
  });
  origin = server.origin;
  let stopping: Promise<void> | undefined;
  try {
    await gateway.start();
  } catch (error) {
    await end(0);
    throw error;
  }
  if (phase === 'starting') phase = 'running';

  return {
    origin,
    get dashboardUrl() {
      return dashboard.url;
    },
    stop(drainMs = 0) {
      if (stopping !== undefined) void gateway.stop();
      stopping ??= end(drainMs);
      return stopping;
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    // The dashboard has metrics of its own, of all gateways on the database; here they are those of this one.
    if (path !== '/metrics' && dashboard.has(path)) return dashboard.answer(request, response);
    await listener(request, response);
  }

  async function end(drainMs: number): Promise<void> {
    phase = 'stopping';
    await gateway.stop({ drainMs });
    feed.close();
    dashboard.close();
    await server.close(lingerMs);
  }
}
