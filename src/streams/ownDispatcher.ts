import { AnswerCheck } from './answerCheck.ts';
import type { KeptConnections } from './keptConnections.ts';

/** Under these names the global `fetch` has what it sends its requests by: for handlers as undici 6 and 7 have them, and as undici 8 has them. */
const names = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')] as const;

/** Handler to which undici tells of a request. It calls methods that are not there, too, where it asks for them first. */
type Handler = Record<string, (...args: unknown[]) => unknown>;

/** Part of `fetch` that sends. */
export interface Dispatcher {
  dispatch(request: object, handler: object): unknown;
}

/** Controller that the parts of an answer come with, in undici 8. */
interface Controller {
  readonly rawHeaders?: readonly (Uint8Array | string)[] | null;
  abort?: Abort;
}

export type Abort = (...reason: unknown[]) => unknown;

/**
 * For the global `fetch`: its requests go where they would go, a proxy among them, with what supervision needs.
 * - Without the limits of 300 s on headers and body that Node has there.
 * - By HTTP/1.1 alone: there a call that is given up takes its connection with it. Of HTTP/2 only its stream would end, and the next call would go onto a connection that may be dead.
 * - Half an answer is an error, also where undici takes it for whole.
 * - A request that is given up leaves no connection that nobody uses.
 *
 * Empty where it cannot be had: Node's own rules hold then.
 *
 * @param kept - learns of the connections that its requests go over.
 */
export function ownDispatcher(kept: KeptConnections): object {
  // Node makes its own when it first makes one of these.
  new Headers();
  if (names.some((name) => isDispatcher(Reflect.get(globalThis, name)))) return { dispatcher: dispatcherOf(kept) };
  const deno = Reflect.get(globalThis, 'Deno') as Deno | undefined;
  if (deno?.createHttpClient === undefined) return {};
  return { client: (denoClient ??= deno.createHttpClient({ http2: false })) };
}

/** What {@link ownDispatcher} asks of each request. */
export const requestSettings = { headersTimeout: 0, bodyTimeout: 0, allowH2: false };

/**
 * The dispatcher that the global `fetch` would send by, the host's or Node's, for handlers as undici 6 and 7 have them; undefined where `fetch` is not Node's own,
 * or has none. undici 8 has one for such handlers beside its own.
 */
export function hostDispatcher(): Dispatcher | undefined {
  if (!isOfNode(fetch)) return undefined;
  // Node makes its own when it first makes one of these.
  if (Reflect.get(globalThis, names[0]) === undefined) new Headers();
  const own: unknown = Reflect.get(globalThis, names[0]);
  return isDispatcher(own) ? own : undefined;
}

let seen: { readonly fetch: object; readonly isOfNode: boolean } | undefined;

/** Tells Node's `fetch` from one that was put in its place: nothing but its text does. */
function isOfNode(own: typeof fetch): boolean {
  if (seen?.fetch !== own) seen = { fetch: own, isOfNode: String(own).includes('internal/deps/undici/undici') };
  return seen.isOfNode;
}

/** The part of Deno (2.9.6) by which its `fetch` is told what to speak; it judges the end of each answer by itself. */
interface Deno {
  createHttpClient?(options: { readonly http2: boolean }): object;
}

/** For all requests of this process: it holds their connections. */
let denoClient: object | undefined;

function dispatcherOf(kept: KeptConnections): Dispatcher {
  return {
    dispatch(request: object, handler: Handler) {
      const check = new AnswerCheck(kept);
      const isNewer = typeof handler['onRequestStart'] === 'function';
      const wanted = isNewer ? names.toReversed() : names;
      // Looked for at each request: a host may set another one.
      const own = wanted.map((name) => Reflect.get(globalThis, name) as unknown).find(isDispatcher);
      if (own === undefined) throw new TypeError('fetch has lost its dispatcher');
      return own.dispatch(
        { ...request, ...requestSettings },
        isNewer ? newerHandler(handler, check) : olderHandler(handler, check),
      );
    },
  };
}

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'dispatch') === 'function';
}

/** Serves undici 6 and 7. */
function olderHandler(handler: Handler, check: AnswerCheck): Handler {
  return {
    ...passedOn(handler),
    onConnect(abort, ...rest) {
      check.begin();
      return handler['onConnect']?.(givenUpFirst(check, abort as Abort), ...rest);
    },
    onHeaders(status, headers, ...rest) {
      if ((status as number) >= 200) check.answered(headers as readonly Uint8Array[]);
      return handler['onHeaders']?.(status, headers, ...rest);
    },
    onData(chunk) {
      check.push(chunk as Uint8Array);
      return handler['onData']?.(chunk);
    },
    onComplete(trailers) {
      judge(check, (error) => (error ? handler['onError']?.(error) : handler['onComplete']?.(trailers)));
    },
    onError(error) {
      check.drop();
      handler['onError']?.(error);
    },
  };
}

/** Serves undici 8. */
function newerHandler(handler: Handler, check: AnswerCheck): Handler {
  return {
    ...passedOn(handler),
    onRequestStart(controller, ...rest) {
      check.begin();
      const { abort } = controller as Controller;
      // It is made for this request alone.
      if (abort !== undefined) (controller as Controller).abort = givenUpFirst(check, abort.bind(controller));
      handler['onRequestStart']?.(controller, ...rest);
    },
    onResponseStart(controller, status, ...rest) {
      if ((status as number) >= 200) check.answered((controller as Controller | null)?.rawHeaders ?? []);
      handler['onResponseStart']?.(controller, status, ...rest);
    },
    onResponseData(controller, chunk) {
      check.push(chunk as Uint8Array);
      handler['onResponseData']?.(controller, chunk);
    },
    onResponseEnd(controller, trailers) {
      judge(check, (error) =>
        error ? handler['onResponseError']?.(controller, error) : handler['onResponseEnd']?.(controller, trailers),
      );
    },
    onResponseError(controller, error) {
      check.drop();
      handler['onResponseError']?.(controller, error);
    },
  };
}

function givenUpFirst(check: AnswerCheck, abort: Abort): Abort {
  return (...reason) => {
    check.giveUp();
    return abort(...reason);
  };
}

/** Passes on what is none of the check's business. */
function passedOn(handler: Handler): Handler {
  const others = ['onUpgrade', 'onRequestUpgrade', 'onResponseStarted', 'onBodySent', 'onRequestSent'];
  return Object.fromEntries(
    others.flatMap((name) => {
      const method = handler[name];
      return typeof method === 'function' ? [[name, (...args: unknown[]) => method.apply(handler, args)]] : [];
    }),
  );
}

function judge(check: AnswerCheck, settle: (error: Error | undefined) => unknown): void {
  const error = check.end();
  if (error instanceof Promise) void error.then(settle);
  else settle(error);
}
