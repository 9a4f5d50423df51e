import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, OrderResult } from '../../src/policy/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { noTrace } from '../server/httpServer.ts';
import { shows } from '../server/access.ts';
import { sendPage } from '../server/page.ts';
import { sendEvents } from '../server/sendEvents.ts';
import { metricsPath, sendMetrics } from '../server/sendMetrics.ts';
import { Bulks } from './bulks.ts';
import type { DatabaseSource } from './databaseSource.ts';
import { Doorkeeper, type Right, type Visitor } from './doorkeeper.ts';
import { Feed } from './feed.ts';
import { dashboardPage } from './page/dashboardPage.ts';
import { readEventId, readEventSearch, readLettersOf, readSessionId, readSpan, WrongParameter } from './parameters.ts';
import {
  mostBulkBytes,
  readAnswer,
  readBody,
  readBulk,
  readBulkKey,
  readLogin,
  readOrder,
  readSubject,
} from './requests.ts';
import { answerLink, isQuestionLink } from './questionLink.ts';
import type { Snapshot } from './snapshot.ts';
import { lateModule } from '../../src/actors/process/face.ts';

const incidentModule = lateModule(() => import('../../incident/incidentFiles.ts'));

export interface DashboardOptions {
  readonly clock: Clock;
  readonly source: Pick<DatabaseSource, keyof DatabaseSource>;
  /** Returns the address of its listener, once it listens: `http://127.0.0.1:PORT`. */
  readonly origin: () => string;
  /** Tells who asks, and what they may do. @defaultValue `right` for a browser that was opened with the address, nothing for others */
  readonly access?: ((request: IncomingMessage) => Visitor | Promise<Visitor>) | undefined;
  /** Right of a browser that was opened with the address, where there is no `access`. @defaultValue `all` */
  readonly right?: 'all' | 'read' | undefined;
  /** Token that a program shows to read `/metrics` alone, as `Authorization: Bearer …`. @defaultValue none: it takes a right */
  readonly metricsToken?: string | undefined;
  /** Name of who orders then, as it is recorded. @defaultValue `dashboard` */
  readonly by?: string | undefined;
  /** Told the next address when one was used. @defaultValue nobody is told */
  readonly used?: ((url: string) => void) | undefined;
  /** Pages that watch at a time. @defaultValue 16 */
  readonly maxViewers?: number | undefined;
}

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly visitor: Visitor;
}

/**
 * The dashboard, for a listener.
 * Answers for the dashboard. The page itself holds no data; all data need a right, and every order the right to everything. A request without a
 * right gets 403.
 */
export function createDashboard(options: DashboardOptions) {
  const { clock, source, access, right = 'all', by = 'dashboard', used, maxViewers = 16 } = options;
  const bulks = new Bulks({ clock, give: (asked) => source.order(asked), progressed: () => feed.look() });
  const look = async (spanMs: number): Promise<Snapshot> => ({
    ...(await source.snapshot(spanMs)),
    bulks: bulks.lines,
  });
  const feed = new Feed({ clock, source: { snapshot: look } });
  const door = new Doorkeeper();
  const routes: Readonly<Record<string, Route>> = {
    '/api/snapshot': reads(({ query }) => look(readSpan(query))),
    '/api/stream': reads(stream),
    '/api/session': reads(({ query }) => known(source.session(readSessionId(query)), 'Nobody knows this session.')),
    '/api/events': reads(({ query }) => source.events(readEventSearch(query))),
    '/api/chain': reads(({ query }) => known(source.chain(readEventId(query)), 'Nobody knows this event any more.')),
    '/api/cluster': reads(async () => (await source.cluster()) ?? {}),
    '/api/trees': reads(() => source.trees()),
    [metricsPath]: reads(async ({ request, response }) => sendMetrics(request, response, await source.metrics())),
    '/api/letters': reads(async ({ query }) => ({ letters: await source.letters(readLettersOf(query)) })),
    // Whoever may look may take home what they see; asked as an order is, since the gateways write for it.
    '/api/incident': { method: 'POST', right: 'read', answer: incident },
    '/api/order': orders(async ({ body, visitor: { by: who } }) => source.order({ ...readOrder(body), by: who })),
    '/api/answer': orders(({ body, visitor: { by: who } }) => {
      const { question, ...given } = readAnswer(body);
      return source.answer(question, { ...given, by: who, way: 'page' });
    }),
    '/api/orders': orders(
      ({ body, visitor: { by: who } }) => bulks.begin(readBulk(body).map((each) => ({ ...each, by: who }))),
      mostBulkBytes,
    ),
    '/api/orders/stop': orders(({ body }) => bulks.stop(readBulkKey(body))),
  };

  const urlNow = (): string => `${options.origin()}/${access === undefined ? `#token=${door.token}` : ''}`;
  const portNow = (): number => Number(new URL(options.origin()).port || 80);
  return {
    /** Address of the page; its token, behind the `#`, is good for one browser. */
    get url(): string {
      return urlNow();
    },
    /** Tells whether a path is one of its own. */
    has: (pathname: string): boolean =>
      pathname === '/' || pathname === '/login' || isQuestionLink(pathname) || Object.hasOwn(routes, pathname),
    /** Answers a request; rejects with nothing. */
    answer,
    /** Lets every viewer go. */
    close(): void {
      bulks.close();
      feed.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method ?? 'GET';
    if (pathname === '/')
      return method === 'GET' ? sendPage(response, dashboardPage()) : refuse(response, 405, 'Method Not Allowed');
    if (isQuestionLink(pathname)) return answerLink(request, response, source, clock.wallNow());
    if (pathname === '/login' && method === 'POST') return login(request, response);
    const route = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
    if (route === undefined) return refuse(response, 404, 'Not Found');
    if (route.method !== method) return refuse(response, 405, 'Method Not Allowed');
    const visitor = isScraper(request, pathname) ? scraper : await visitorOf(request);
    if (visitor.right !== 'all' && visitor.right !== route.right) {
      const reason = visitor.right === 'read' ? 'You may look, and not act.' : 'Open the address with its token first.';
      return refuse(response, 403, reason);
    }
    try {
      const answered = await route.answer({ request, response, query, visitor });
      if (!response.headersSent) sendJson(response, answered);
    } catch (error) {
      if (error instanceof Unknown) return refuse(response, 404, error.message);
      if (response.headersSent) return void response.destroy();
      const isMisuse = error instanceof TypeError || error instanceof RangeError;
      const what = error instanceof WrongParameter ? { parameter: error.parameter, value: error.value } : {};
      refuse(response, isMisuse ? 400 : 502, messageOf(error), what);
    }
  }

  async function visitorOf(request: IncomingMessage): Promise<Visitor> {
    if (access === undefined) return { right: door.knows(request, portNow()) ? right : 'none', by };
    // A host that throws, or gives what is no right, opens nothing.
    const none: Visitor = { right: 'none', by: '' };
    return Promise.resolve(request)
      .then(access)
      .catch(() => none);
  }

  async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = await readBody(request).then(readLogin, () => '');
    const cookie = access === undefined ? door.admit(token, portNow()) : undefined;
    if (cookie === undefined) return refuse(response, 403, 'The token is not good, or was used.');
    response.setHeader('Set-Cookie', cookie);
    sendJson(response, {});
    used?.(urlNow());
  }

  /** Programs cannot log in as a browser does. */
  function isScraper(request: IncomingMessage, pathname: string): boolean {
    const { metricsToken } = options;
    return (
      pathname === metricsPath && metricsToken !== undefined && shows(request, { value: metricsToken, in: 'bearer' })
    );
  }

  function stream({ response, query, visitor }: Asked): void {
    if (feed.viewers >= maxViewers) return refuse(response, 503, `${maxViewers} pages watch already.`);
    sendEvents(feed.open(readSpan(query), visitor.right === 'all' ? 'all' : 'read'), response);
  }

  /** An order, which is seen at once. */
  function orders(give: (asked: Ordered) => OrderResult | Promise<OrderResult>, mostBytes?: number): Route {
    const answer = async (asked: Asked): Promise<OrderResult> => {
      const result = await give({ ...asked, body: await readBody(asked.request, mostBytes) });
      feed.look();
      return result;
    };
    return { method: 'POST', right: 'all', answer };
  }

  async function incident({ request, response }: Asked): Promise<void> {
    const found = await source.incident(readSubject(await readBody(request)));
    const { incidentName, incidentText } = await incidentModule();
    response.writeHead(200, {
      ...noTrace,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="${incidentName(found)}.json"`,
    });
    response.end(incidentText(found));
  }
}

const scraper: Visitor = { right: 'read', by: '' };

interface Route {
  readonly method: 'GET' | 'POST';
  readonly right: Exclude<Right, 'none'>;
  /** Returns what is answered as JSON, where it has not answered itself. */
  readonly answer: (asked: Asked) => unknown;
}

/** An order as it was sent. */
interface Ordered extends Asked {
  readonly body: unknown;
}

const reads = (answer: Route['answer']): Route => ({ method: 'GET', right: 'read', answer });

/** Something is asked for that nobody knows. */
class Unknown extends Error {}

/** @throws Unknown with the text where nothing was found. */
async function known<T>(found: Promise<T | undefined>, text: string): Promise<T> {
  const value = await found;
  if (value === undefined) throw new Unknown(text);
  return value;
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { ...noTrace, 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}

/** @param what - further fields of the error. */
function refuse(response: ServerResponse, status: number, error: string, what: object = {}): void {
  response.writeHead(status, { ...noTrace, 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
  response.end(`${JSON.stringify({ error, ...what })}\n`);
}
