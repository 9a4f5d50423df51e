import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { shownQuestion } from '../../src/policy/records/face.ts';
import type { Gateway } from '../../src/gateway/face.ts';
import type { McpIntegration } from '../../src/integrations/mcp/face.ts';
import type { Clock, Timer } from '../../src/policy/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import type { Asked, Handlers } from './api.ts';
import { ApiError, heldElsewhere, unreadable } from './apiError.ts';
import { MessageStates } from './messageView.ts';
import type { Readiness } from './readiness.ts';
import { Sending, type SendingParts } from './sending.ts';
import { sessionPrefix } from './serveTypes.ts';
import type { FeedEvent } from './eventPlace.ts';
import type { FeedReader, SessionFeed } from './sessionFeed.ts';
import type { ServedSession, SessionHost } from './sessionHost.ts';

/** Readers of events at a time, of all sessions together. */
const mostReaders = 1000;
/** Bounds of what a reader that comes back is given by the records. */
const replayedOf = { limit: 1000, among: 20_000 };
/** Entries of a history that are read from the record: as many as a session holds by itself. */
const mostEntries = 10_000;

interface HandlerParts extends Omit<SendingParts, 'servers' | 'states' | 'isRunning'> {
  readonly gateway: Pick<Gateway, 'why' | 'metrics' | 'inbox' | 'store'>;
  readonly sessions: SessionHost;
  readonly feed: SessionFeed;
  readonly servers: ReadonlyMap<string, McpIntegration>;
  readonly readiness: () => Readiness;
  readonly dashboardUrl: () => string;
}

/** Makes the handlers of the routes. */
export function createHandlers(parts: HandlerParts): Handlers {
  const { gateway, clock, sessions, feed, servers, read } = parts;
  const states = new MessageStates(parts);
  const isRunning = (session: string, message: string): boolean => gateway.why(session).turn?.message === message;
  const sending = new Sending({ ...parts, states, isRunning });

  return {
    alive: () => ({ data: { alive: true } }),
    ready() {
      const readiness = parts.readiness();
      return { status: readiness.ready ? 200 : 503, data: readiness };
    },
    async metrics({ request }) {
      const { text, contentType } = await gateway.metrics({ accept: request.headers.accept });
      return new Response(text, { headers: { 'Content-Type': contentType, Vary: 'Accept' } });
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
    async inbox() {
      const questions = (await gateway.inbox?.open()) ?? [];
      return { data: { questions: questions.map(shownQuestion) } };
    },
    async answerQuestion({ path, body }) {
      const answer = { ...body, way: 'http' as const };
      const result = await gateway.inbox?.answer(path['question'] ?? '', answer);
      if (result === undefined) throw new ApiError(404, 'No inbox is on here.');
      const { ok, because, text } = result;
      if (!ok) throw new ApiError(because === 'unknown' ? 404 : because === 'unfit' ? 400 : 409, text);
      return { data: result };
    },
    listSessions: () => ({ data: { sessions: sessions.all.map(shown) } }),
    session: async (asked) => ({ data: shown(await sessionOf(asked)) }),
    async close(asked) {
      const { reason, drain } = asked.query;
      return { data: await (await ownSessionOf(asked)).close({ by: 'http', reason, drainMs: drain }) };
    },
    send: async (asked) => sending.send(await sessionOf(asked), asked),
    async message(asked) {
      const session = await sessionOf(asked);
      const id = asked.path['message'] ?? '';
      const found = await states.view(session, id.startsWith(sessionPrefix) ? id : `${sessionPrefix}${id}`);
      if (found === undefined) throw new ApiError(404, 'Nobody knows this message any more.');
      return { data: found };
    },
    async history(asked) {
      const session = await sessionOf(asked);
      if (!session.heldElsewhere) return { data: { history: session.history } };
      return { data: { history: await onRecord((reader) => reader.history(session.id, mostEntries)) } };
    },
    async why(asked) {
      const { id } = await sessionOf(asked);
      const why = gateway.why(id);
      if (!why.heldElsewhere) return { data: why };
      const { owner, messages = [], calls = [] } = (await onRecord((reader) => reader.session(id))) ?? {};
      return { data: { ...why, ...(owner !== undefined && { owner }), onRecord: { messages, calls } } };
    },
    async events(asked) {
      // Events elsewhere are told there: a stream in which nothing comes would look as if nothing happened.
      const { id } = await ownSessionOf(asked);
      if (feed.readers >= mostReaders) throw new ApiError(503, `${mostReaders} readers are there already.`, 10);
      const last = asked.request.headers['last-event-id'];
      const reader = feed.read(id, typeof last === 'string' ? last : undefined);
      const records = async (): Promise<readonly FeedEvent[]> => {
        // What was told before it reads is on record by then.
        await gateway.store?.flush();
        const query = { session: id, since: reader.since?.at, ...replayedOf };
        return reader.replayed(await read((store) => store.events(query)).catch(() => []));
      };
      return eventsResponse(asked.context, reader, records, clock);
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

  /** Orders and events are the owner's. */
  async function ownSessionOf(asked: Pick<Asked, 'path'>): Promise<ServedSession> {
    const session = await sessionOf(asked);
    if (session.heldElsewhere) throw await heldElsewhere(session.id, read);
    return session;
  }

  function onRecord<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    return read(work).catch(() => {
      throw unreadable();
    });
  }
}

const shown = ({ id, state, waiting, heldElsewhere: isElsewhere }: ServedSession) => ({
  id,
  state,
  waiting,
  ...(isElsewhere && { heldElsewhere: true }),
});

/** Interval of comments where nothing happens, so that nobody in between takes the connection for dead, in ms. */
const heartbeatMs = 15_000;

/** The events of a reader as server-sent events, no faster than its client takes them. */
function eventsResponse(
  context: Context,
  reader: FeedReader,
  records: () => Promise<readonly FeedEvent[]>,
  clock: Clock,
): Response {
  // A proxy in front must not hold them back.
  context.header('X-Accel-Buffering', 'no');
  return streamSSE(context, async (stream) => {
    let timer: Timer | undefined;
    const beat = (): void => {
      timer = clock.setTimeout(() => {
        void stream.write(':\n\n');
        beat();
      }, heartbeatMs);
    };
    stream.onAbort(() => void reader.return());
    // Something at once: a client knows by it that it is heard.
    await stream.write(':\n\n');
    beat();
    try {
      const write = ({ id, data }: FeedEvent): Promise<void> =>
        stream.writeSSE({ id, event: data.type, data: JSON.stringify(data) });
      if (reader.missed) {
        await stream.writeSSE({ event: 'missed', data: JSON.stringify({ type: 'missed', see: 'history' }) });
        for (const event of await records()) await write(event);
      }
      for await (const event of reader) await write(event);
    } finally {
      clock.clearTimeout(timer);
      await reader.return();
    }
  });
}
