import type { Effect } from '../../policy/effects.ts';
import { read, readString } from '../../policy/failures/errorChain.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { headersKey } from '../../policy/options/httpKeys.ts';
import { byName, type Given, test, text, type Values } from '../../policy/options/optionKeys.ts';
import { readOptions } from '../../policy/options/readOptions.ts';

type QueryValue = string | number | boolean;

const isQueryValue = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

const requestKeys = {
  /** In any case; `CONNECT`, `TRACE` and `TRACK` cannot be sent. @defaultValue 'GET' */
  method: text({
    form: (value) => /^(?!(?:connect|trace|track)$)[A-Za-z-]+$/i.test(value),
    expected: 'a method that fetch can send',
  }),
  /** Below `baseUrl`, with or without a slash at its beginning; it may have a query. Empty for `baseUrl` itself. */
  path: text({
    required: true,
    empty: true,
    secret: true,
    form: (value) => !/^[a-z][a-z\d+.-]*:\/\//i.test(value),
    expected: 'a path below `baseUrl`',
  }),
  /** Takes the place of what the query of `baseUrl` and of `path` say under the same names. Several values of a name are an array; `undefined` is left out. */
  query: byName(
    test<QueryValue | readonly QueryValue[]>(
      'text, a number, true or false, or an array of these',
      (value) => (Array.isArray(value) ? value.every(isQueryValue) : isQueryValue(value)),
      { secret: true },
    ),
    { given: {} as Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>, expected: 'an object' },
  ),
  /** Take the place of those of the integration; one that is `undefined` takes it out. */
  headers: headersKey,
  /**
   * Text, bytes, a form (`URLSearchParams`, `FormData`) and a `Blob` go as they are; any other object as JSON, with its
   * `content-type`. No stream: a call may be sent more than once.
   */
  body: test<string | object>(
    'text, bytes, or an object',
    (value) =>
      typeof value === 'string' || (typeof value === 'object' && value !== null && !(value instanceof ReadableStream)),
    { secret: true },
  ),
};

/** A call of an HTTP API. */
export interface HttpRequest extends Given<typeof requestKeys> {}

/** Address that an integration sends its requests to, and what goes with each. */
type Addressed = Pick<HttpRequest, 'headers'> & { readonly baseUrl: string };

type RequestBody = NonNullable<RequestInit['body']>;

/** A request as `fetch` takes it. */
export interface PreparedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: RequestBody | undefined;
}

/**
 * A request may come from an agent: it says what is asked of the API, never of whom.
 * @throws {@link AttemptError} of kind `permanent` that names what is wrong with it.
 */
export function prepareRequest(name: string, request: unknown, { baseUrl, headers }: Addressed): PreparedRequest {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw misuse(`Expected a request of ${name} to be an object`);
  }
  const given = readRequest(request);
  const method = (given.method ?? 'GET').toUpperCase();
  if (given.body !== undefined && (method === 'GET' || method === 'HEAD')) {
    throw misuse(`Expected \`body\` to be left out: ${method} has none`);
  }
  const url = addressOf(new URL(baseUrl), given.path);
  for (const [key, value] of Object.entries(given.query ?? {})) {
    url.searchParams.delete(key);
    for (const each of [value].flat()) url.searchParams.append(key, String(each));
  }
  const sent = new Headers();
  for (const [key, value] of [...Object.entries(headers ?? {}), ...Object.entries(given.headers ?? {})]) {
    if (value === undefined) sent.delete(key);
    else sent.set(key, value);
  }
  return { url, method, headers: sent, body: bodyOf(given.body, sent) };
}

function readRequest(request: object): Values<typeof requestKeys> {
  try {
    return readOptions('', request, requestKeys);
  } catch (error) {
    throw misuse((error as Error).message);
  }
}

/** Below the address, whatever dots the path has; its query goes first. */
function addressOf(base: URL, path: string): URL {
  const prefix = base.pathname.replace(/\/$/, '');
  const [, place = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(path) ?? [];
  const url = new URL(base.origin);
  // Set and not joined: it cannot become another host.
  url.pathname = place === '' ? base.pathname : `${prefix}/${place.replace(/^\//, '')}`;
  if (url.pathname !== prefix && !url.pathname.startsWith(`${prefix}/`)) {
    throw misuse('Expected `path` to stay below `baseUrl`');
  }
  url.search = base.search;
  const own = new URLSearchParams(query);
  for (const key of own.keys()) url.searchParams.delete(key);
  for (const [key, value] of own) url.searchParams.append(key, value);
  return url;
}

/** Tells whether it is sent as it is: these are read anew each time. `FormData` is named only here, as Node loads the whole of `fetch` for it. */
const isSendable = (body: object): boolean =>
  ArrayBuffer.isView(body) || [ArrayBuffer, URLSearchParams, FormData, Blob].some((kind) => body instanceof kind);

function bodyOf(body: string | object | undefined, headers: Headers): RequestBody | undefined {
  if (body === undefined || typeof body === 'string') return body;
  if (isSendable(body)) return body as RequestBody;
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch {
    // The error may name what the body holds.
  }
  if (json === undefined) throw misuse('Expected `body` to be writable as JSON');
  return json;
}

/** Effects that methods of requests stand for; of others nothing is known. */
const methodEffects = new Map<string, Effect>([
  ['GET', 'readOnly'],
  ['HEAD', 'readOnly'],
  ['OPTIONS', 'readOnly'],
  ['PUT', 'idempotent'],
  ['DELETE', 'idempotent'],
]);

/** Tells what a request may do to the world, by its method. Never throws. */
export function effectOfRequest(request: unknown): Effect | undefined {
  const method = read(request, 'method');
  return methodEffects.get(method === undefined ? 'GET' : (readString(request, 'method') ?? '').toUpperCase());
}

function misuse(message: string): AttemptError {
  return new AttemptError({ kind: 'permanent', message, outcome: 'not_started' });
}

/** Tells where an address leads; its port, where it names none, is that of its scheme. */
export function serverOf(url: string | URL): { readonly host: string; readonly port: number } {
  const { hostname: host, port, protocol } = new URL(url);
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}
