import { type Context, Hono } from 'hono';
import type { IncomingMessage } from 'node:http';
import { maxBodyBytes, readRequestBody } from '../../proxy/http/requestBody.ts';
import { type Keys, type Values, readOptions } from '../../src/policy/options/face.ts';
import { shows } from '../server/access.ts';
import { noTrace } from '../server/httpServer.ts';
import { ApiError } from './apiError.ts';
import { type Route, type RouteName, routes } from './routeTable.ts';

/** A request whose route was found, and whose query and body are as the table has them. */
export interface Asked<Query = unknown, Body = unknown> {
  readonly context: Context<Env>;
  readonly request: IncomingMessage;
  /** Values of the path, by name. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

/** Answer of a handler: data, with their status, or a response of its own making. */
export type Answered = Response | { readonly status?: number; readonly data: unknown };

/** Values of a request, as its table says. */
type Read<N extends RouteName, Part extends string> = (typeof routes)[N] extends {
  readonly [P in Part]: infer K extends Keys;
}
  ? Values<K>
  : unknown;

/** A request of one route. */
export type AskedOf<N extends RouteName> = Asked<Read<N, 'query'>, Read<N, 'body'>>;

export type Handlers = { readonly [N in RouteName]: (asked: AskedOf<N>) => Answered | Promise<Answered> };

interface Env {
  Bindings: { readonly incoming: IncomingMessage };
}

interface ApiOptions {
  /** Token that a request shows as `Authorization: Bearer …`. @defaultValue none is asked for */
  readonly token?: string | undefined;
  /** Tells whether nothing can be asked for yet but whether it lives. */
  readonly isStarting: () => boolean;
}

/** The routes of the table, answered by these. */
export function createApi(handlers: Handlers, { token, isStarting }: ApiOptions): Hono<Env> {
  const app = new Hono<Env>();
  app.use('*', async (context, next) => {
    for (const [name, value] of Object.entries(noTrace)) context.header(name, value);
    await next();
  });
  for (const name of Object.keys(routes) as RouteName[]) {
    const route: Route = routes[name];
    app.on(route.method, route.path, (context) =>
      answer(route, context, handlers[name] as (asked: Asked) => Answered | Promise<Answered>),
    );
  }
  app.notFound((context) => {
    const methods = methodsOf(context.req.path);
    if (methods.length === 0) return context.json({ error: `There is no ${context.req.path} here.` }, 404);
    context.header('Allow', methods.join(', '));
    return context.json({ error: `${context.req.path} takes ${methods.join(' and ')}.` }, 405);
  });
  app.onError(failed);
  return app;

  async function answer(
    route: Route,
    context: Context<Env>,
    handle: (asked: Asked) => Answered | Promise<Answered>,
  ): Promise<Response> {
    const request = context.env.incoming;
    if (route.isOpen !== true && token !== undefined && !shows(request, { value: token, in: 'bearer' })) {
      context.header('WWW-Authenticate', 'Bearer');
      throw new ApiError(401, 'The header Authorization has to hold the token: `Bearer TOKEN`.');
    }
    if (route.isOpen !== true && isStarting()) throw new ApiError(503, 'It is starting.', 1);
    // A probe may add what it likes to its address.
    const query = route.isOpen === true ? {} : readOptions('query', context.req.query(), route.query ?? {});
    const body = route.body === undefined ? {} : readOptions('body', await jsonOf(request), route.body);
    const path: Readonly<Record<string, string>> = context.req.param();
    const answered = await handle({ context, request, path, query, body });
    if (answered instanceof Response) return answered;
    return Response.json(answered.data, { status: answered.status ?? 200, headers: context.res.headers });
  }
}

/** An empty body says nothing of anything. Hono's own limit cannot be used: a body without a length is a request made anew to it, which Node refuses. */
async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const bytes = await readRequestBody(request);
  if (bytes === 'too_large') throw new ApiError(413, `A body has at most ${maxBodyBytes} bytes.`);
  if (typeof bytes === 'string') throw new ApiError(400, 'The body did not come to its end.');
  const text = bytes.toString('utf8');
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, 'The body has to be JSON.');
  }
}

/** Finds the methods of a path; none for one that is no route. */
function methodsOf(asked: string): readonly string[] {
  const given = asked.split('/');
  const of = Object.values(routes).filter(({ path }) => {
    const parts = path.split('/');
    const fits = (part: string, index: number): boolean =>
      part.startsWith(':') ? given[index] !== '' : part === given[index];
    return parts.length === given.length && parts.every(fits);
  });
  return of.map(({ method }) => method);
}

/** Tells what is wrong with a request by the name of the option; what is wrong with us is no more than that. */
function failed(error: Error, context: Context<Env>): Response {
  if (error instanceof ApiError) {
    if (error.retryAfter !== undefined) context.header('Retry-After', String(error.retryAfter));
    return context.json({ error: error.message }, error.status);
  }
  if (error instanceof TypeError || error instanceof RangeError) return context.json({ error: error.message }, 400);
  return context.json({ error: error.message }, 500);
}
