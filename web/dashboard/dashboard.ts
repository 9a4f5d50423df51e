import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/clock.ts';
import { messageOf } from '../../src/policy/thrown.ts';
import { noTrace } from '../server/httpServer.ts';
import { shows } from '../server/access.ts';
import { sendEvents } from '../server/sendEvents.ts';
import { metricsPath, sendMetrics } from '../server/sendMetrics.ts';
import { Bulks } from './bulks.ts';
import { Doorkeeper, type Right, type Visitor } from './doorkeeper.ts';
import { Feed } from './feed.ts';
import { dashboardPage } from './page/dashboardPage.ts';
import { readEventId, readEventSearch, readLettersOf, readSessionId, readSpan, WrongParameter } from './parameters.ts';
import { readBody } from './requestBody.ts';
import { mostBulkBytes, readBulk, readBulkKey, readLogin, readOrder, readSubject } from './requests.ts';
import type { Snapshot } from './snapshot.ts';
import type { DashboardSource } from './source.ts';
import { lateModule } from '../../src/actors/process/lateModule.ts';

const incidentModule = lateModule(() => import('../../incident/incidentFiles.ts'));

export interface DashboardOptions {
  readonly clock: Clock;
  readonly source: DashboardSource;
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
    '/api/snapshot': { method: 'GET', right: 'read', answer: snapshot },
    '/api/stream': { method: 'GET', right: 'read', answer: stream },
    '/api/session': { method: 'GET', right: 'read', answer: session },
    '/api/events': { method: 'GET', right: 'read', answer: events },
    '/api/chain': { method: 'GET', right: 'read', answer: chain },
    '/api/cluster': { method: 'GET', right: 'read', answer: cluster },
    '/api/trees': { method: 'GET', right: 'read', answer: trees },
    [metricsPath]: { method: 'GET', right: 'read', answer: metrics },
    '/api/letters': { method: 'GET', right: 'read', answer: letters },
    // Whoever may look may take home what they see; asked as an order is, since the gateways write for it.
    '/api/incident': { method: 'POST', right: 'read', answer: incident },
    '/api/order': { method: 'POST', right: 'all', answer: order },
    '/api/orders': { method: 'POST', right: 'all', answer: orders },
    '/api/orders/stop': { method: 'POST', right: 'all', answer: stopOrders },
  };

  const urlNow = (): string => `${options.origin()}/${access === undefined ? `#token=${door.token}` : ''}`;
  const portNow = (): number => Number(new URL(options.origin()).port || 80);
  return {
    /** Address of the page; its token, behind the `#`, is good for one browser. */
    get url(): string {
      return urlNow();
    },
    /** Tells whether a path is one of its own. */
    has: (pathname: string): boolean => pathname === '/' || pathname === '/login' || Object.hasOwn(routes, pathname),
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
    if (pathname === '/') return method === 'GET' ? sendPage(response) : refuse(response, 405, 'Method Not Allowed');
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
      await route.answer({ request, response, query, visitor });
    } catch (error) {
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

  async function snapshot({ response, query }: Asked): Promise<void> {
    sendJson(response, await look(readSpan(query)));
  }

  async function events({ response, query }: Asked): Promise<void> {
    sendJson(response, await source.events(readEventSearch(query)));
  }

  async function chain({ response, query }: Asked): Promise<void> {
    const found = await source.chain(readEventId(query));
    if (found === undefined) return refuse(response, 404, 'Nobody knows this event any more.');
    sendJson(response, found);
  }

  /** Programs cannot log in as a browser does. */
  function isScraper(request: IncomingMessage, pathname: string): boolean {
    const { metricsToken } = options;
    return (
      pathname === metricsPath && metricsToken !== undefined && shows(request, { value: metricsToken, in: 'bearer' })
    );
  }

  async function metrics({ request, response }: Asked): Promise<void> {
    sendMetrics(request, response, await source.metrics());
  }

  async function cluster({ response }: Asked): Promise<void> {
    sendJson(response, (await source.cluster()) ?? {});
  }

  async function trees({ response }: Asked): Promise<void> {
    sendJson(response, await source.trees());
  }

  function stream({ response, query, visitor }: Asked): void {
    if (feed.viewers >= maxViewers) return refuse(response, 503, `${maxViewers} pages watch already.`);
    sendEvents(feed.open(readSpan(query), visitor.right === 'all' ? 'all' : 'read'), response);
  }

  async function order({ request, response, visitor }: Asked): Promise<void> {
    const asked = readOrder(await readBody(request));
    const result = await source.order({ ...asked, by: visitor.by });
    feed.look();
    sendJson(response, result);
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

  async function orders({ request, response, visitor }: Asked): Promise<void> {
    const asked = readBulk(await readBody(request, mostBulkBytes));
    sendJson(response, bulks.begin(asked.map((each) => ({ ...each, by: visitor.by }))));
    feed.look();
  }

  async function stopOrders({ request, response }: Asked): Promise<void> {
    sendJson(response, bulks.stop(readBulkKey(await readBody(request))));
    feed.look();
  }

  async function letters({ response, query }: Asked): Promise<void> {
    sendJson(response, { letters: await source.letters(readLettersOf(query)) });
  }

  async function session({ response, query }: Asked): Promise<void> {
    const found = await source.session(readSessionId(query));
    if (found === undefined) return refuse(response, 404, 'Nobody knows this session.');
    sendJson(response, found);
  }
}

const scraper: Visitor = { right: 'read', by: '' };

interface Route {
  readonly method: 'GET' | 'POST';
  readonly right: Exclude<Right, 'none'>;
  readonly answer: (asked: Asked) => void | Promise<void>;
}

function sendPage(response: ServerResponse): void {
  const { html, policy } = dashboardPage();
  response.writeHead(200, {
    ...noTrace,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'DENY',
  });
  response.end(html);
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
