import { isDeepStrictEqual } from 'node:util';
import type { Gateway } from '../gateway/gatewayTypes.ts';
import type { McpIntegration } from '../integrations/mcp/mcpIntegration.ts';
import type { Clock } from '../policy/clock.ts';
import type { MetricFamily } from '../policy/metrics.ts';
import { metricsBody } from '../policy/metricsText.ts';
import { inTime } from '../policy/inTime.ts';
import type { Acceptance } from '../sessions/acceptance.ts';
import type { Message } from '../sessions/mailbox.ts';
import type { StoreReader } from '../store/storeReader.ts';
import { ApiError } from './apiError.ts';
import type { Answered, Asked, AskedOf, Handlers } from './api.ts';
import { eventsResponse } from './eventsResponse.ts';
import { toolMessage, userMessage } from './messageForms.ts';
import type { MessageResult } from './messageHandler.ts';
import { MessagesUnderWay } from './messagesUnderWay.ts';
import { endedView, messageView } from './messageView.ts';
import type { Readiness } from './readiness.ts';
import type { SessionFeed } from './sessionFeed.ts';
import { sessionPrefix } from './serveTypes.ts';
import type { ServedSession, SessionHost } from './sessionHost.ts';

/** Readers of events at a time, of all sessions together. */
const mostReaders = 1000;
/** Turns that are looked through for why one failed. */
const recentTurns = 200;

export interface HandlerParts {
  readonly gateway: Pick<Gateway, 'why'>;
  readonly clock: Clock;
  readonly sessions: SessionHost;
  readonly feed: SessionFeed;
  readonly servers: ReadonlyMap<string, McpIntegration>;
  readonly agents: readonly string[];
  readonly readiness: () => Readiness;
  readonly metrics: () => readonly MetricFamily[];
  readonly dashboardUrl: () => string;
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
}

/** What the routes answer. */
export function createHandlers(parts: HandlerParts): Handlers {
  const { gateway, clock, sessions, feed, servers, agents, read } = parts;
  const underWay = new MessagesUnderWay();

  return {
    alive: () => ({ data: { alive: true } }),
    ready() {
      const readiness = parts.readiness();
      return { status: readiness.ready ? 200 : 503, data: readiness };
    },
    metrics({ request }) {
      const { type, text } = metricsBody(parts.metrics(), request.headers.accept);
      return new Response(text, { headers: { 'Content-Type': type, Vary: 'Accept' } });
    },
    openDashboard({ request }) {
      const url = new URL(parts.dashboardUrl());
      // By the name that the client knows it by: it may listen on all addresses, or behind a port of another number.
      url.host = request.headers.host ?? url.host;
      return { data: { url: url.href } };
    },
    tools: () => ({
      data: {
        servers: Array.from(servers, ([server, integration]) => ({
          server,
          state: integration.state,
          tools: (integration.knownTools?.tools ?? []).map(({ name, description, inputSchema }) => ({
            name,
            description,
            inputSchema,
          })),
        })),
      },
    }),
    async openSession({ body }) {
      const { session, made } = await sessions.open(body.id);
      return { status: made ? 201 : 200, data: shown(session) };
    },
    listSessions: () => ({ data: { sessions: sessions.all.map(shown) } }),
    session: async (asked) => ({ data: shown(await sessionOf(asked)) }),
    async send(asked) {
      const session = await sessionOf(asked);
      const key = asked.request.headers['idempotency-key'];
      const message = messageIn(asked.body);
      const acceptance = await session.send(message, typeof key === 'string' ? { key } : {});
      if (!acceptance.accepted && acceptance.reason === 'duplicate')
        return again(session, acceptance.id ?? '', message, asked.query.wait);
      if (acceptance.accepted) underWay.add(acceptance.id, message, acceptance.processed);
      return answerOf(acceptance, asked);
    },
    async message(asked) {
      const session = await ownSessionOf(asked);
      const id = asked.path['message'] ?? '';
      const found = await viewOf(session, id.startsWith(sessionPrefix) ? id : `${sessionPrefix}${id}`);
      if (found === undefined) throw new ApiError(404, 'Nobody knows this message any more.');
      return { data: found };
    },
    history: async (asked) => ({ data: { history: (await ownSessionOf(asked)).history } }),
    why: async (asked) => ({ data: gateway.why((await sessionOf(asked)).id) }),
    async events(asked) {
      const { id } = await sessionOf(asked);
      if (feed.readers >= mostReaders) throw new ApiError(503, `${mostReaders} readers are there already.`, 10);
      const last = asked.request.headers['last-event-id'];
      return eventsResponse(asked.context, feed.read(id, typeof last === 'string' ? last : undefined), clock);
    },
    async cancel(asked) {
      const { call, why } = asked.body;
      return { data: (await ownSessionOf(asked)).cancel(call, { by: 'http', ...(why !== undefined && { why }) }) };
    },
    async fire(asked) {
      const { rule, why } = asked.body;
      return { data: (await ownSessionOf(asked)).fire(rule, { by: 'http', ...(why !== undefined && { why }) }) };
    },
  };

  async function sessionOf({ path }: Pick<Asked, 'path'>): Promise<ServedSession> {
    const name = path['session'] ?? '';
    const session = await sessions.find(name);
    if (session === undefined)
      throw new ApiError(404, `Nobody knows the session \`${name}\`: POST /v1/sessions makes one.`);
    return session;
  }

  /** What is known of a session that another process has is what that one knows. */
  async function ownSessionOf(asked: Pick<Asked, 'path'>): Promise<ServedSession> {
    const session = await sessionOf(asked);
    if (session.heldElsewhere) throw heldElsewhere();
    return session;
  }

  /** A message that was accepted under this key before: what became of it, which may be waited for. */
  async function again(
    session: ServedSession,
    id: string,
    message: Message,
    limitMs: number | undefined,
  ): Promise<Answered> {
    const known = underWay.get(id);
    const begun = session.history.findLast((entry) => entry.type === 'message' && entry.id === id);
    const first = known?.message ?? (begun?.type === 'message' ? begun.message : undefined);
    if (first !== undefined && !isDeepStrictEqual(plain(first), plain(message)))
      throw new ApiError(422, `Another message was accepted under this Idempotency-Key: ${id}.`);
    if (limitMs !== undefined && known !== undefined) await inTime(known.processed, { clock, limitMs });
    const view = (await viewOf(session, id)) ?? { id, state: 'waiting' };
    const isOver = view.state !== 'waiting' && view.state !== 'running';
    return { status: isOver ? 200 : 202, data: { ...view, duplicate: true } };
  }

  function messageIn({ text, agent, tool }: AskedOf<'send'>['body']): Message {
    if ((text === undefined) === (tool === undefined))
      throw new ApiError(400, 'Expected `body` to have either `text` or `tool`.');
    if (tool !== undefined) {
      if (agent !== undefined) throw new ApiError(400, '`agent` belongs to `text`; `tool` names its server.');
      if (!servers.has(tool.server)) throw unknown('body.tool.server', tool.server, [...servers.keys()]);
      return toolMessage({ server: tool.server, name: tool.name, arguments: { ...tool.arguments } });
    }
    if (agents.length === 0)
      throw new ApiError(400, 'No agent is configured to answer `text`: name one under `agents` of the configuration.');
    if (agent !== undefined && !agents.includes(agent)) throw unknown('body.agent', agent, agents);
    return userMessage({ text: text ?? '', agent });
  }

  async function answerOf(
    acceptance: Acceptance<MessageResult | undefined>,
    { query }: AskedOf<'send'>,
  ): Promise<Answered> {
    if (!acceptance.accepted) {
      const { reason } = acceptance;
      if (reason === 'mailbox_full') throw new ApiError(429, 'The mailbox of the session is full.', 1);
      if (reason === 'owned_elsewhere') throw heldElsewhere();
      if (reason === 'unavailable') throw new ApiError(503, 'The database that keeps the session is out of reach.', 5);
      throw new ApiError(503, 'It is stopping.', 5);
    }
    const { id, durable, processed } = acceptance;
    const limitMs = query.wait;
    const outcome = limitMs === undefined ? undefined : await inTime(processed, { clock, limitMs });
    if (outcome === undefined) return { status: 202, data: { id, durable, state: 'waiting' } };
    // Cut by a stop: it is delivered again at the next start.
    if (!outcome.ok && outcome.failure.reason === 'stopped')
      return { status: 202, data: { id, durable, state: 'waiting' } };
    const view = outcome.ok ? endedView(id, outcome.value) : endedView(id, undefined, outcome.failure.message);
    return { data: { ...view, durable } };
  }

  async function viewOf(session: ServedSession, id: string) {
    const running = gateway.why(session.id).turn?.message;
    const records = await read((reader) => reader.session(session.id)).catch(() => undefined);
    const turns = await read((reader) => reader.turns(session.id, recentTurns)).catch(() => []);
    return messageView(id, { history: session.history, running, records, turns });
  }
}

const shown = ({ id, state, waiting, heldElsewhere: isElsewhere }: ServedSession) => ({
  id,
  state,
  waiting,
  ...(isElsewhere && { heldElsewhere: true }),
});

const heldElsewhere = (): ApiError => new ApiError(409, 'Another process has the session.', 10);

/** As it is once it was kept. */
const plain = (message: Message): unknown => JSON.parse(JSON.stringify(message));

function unknown(key: string, value: string, known: readonly string[]): ApiError {
  return new ApiError(400, `Expected \`${key}\` to be one of ${known.join(', ') || 'none'}, got \`${value}\`.`);
}
