/** Context of a request, as a handler is told it: the last of its arguments, in the shape of either SDK. */
type HandlerContext = Readonly<Record<string, unknown>>;

/** Signs that the boundary hears from a handler. */
interface HandlerEars {
  /** Aborted when the call is given up: from then on its handler asks nobody, and has nothing to say of it. */
  readonly signal: AbortSignal;
  /** The handler let the client hear of it. */
  alive(): void;
  /** It waits for an answer of the client, which may be a person's, until the function it gets is called. */
  asks(): () => void;
}

/** The part of the context with the signal and the ways to the client: of its own in the SDK for the stateless protocol. */
function requestPart(context: HandlerContext): HandlerContext {
  const { mcpReq } = context;
  return isObject(mcpReq) ? mcpReq : context;
}

/** The last argument, if it is what the SDKs give a handler. */
export function contextIn(args: readonly unknown[]): HandlerContext | undefined {
  const last = args.at(-1);
  return isObject(last) && requestPart(last)['signal'] instanceof AbortSignal ? last : undefined;
}

/** Aborted when the client gives the request up. */
export function signalOf(context: HandlerContext | undefined): AbortSignal | undefined {
  const signal = context === undefined ? undefined : requestPart(context)['signal'];
  return signal instanceof AbortSignal ? signal : undefined;
}

const notifying = ['sendNotification', 'notify', 'log'];
const asking = ['sendRequest', 'send', 'elicitInput', 'requestSampling'];

/** The same context with the signal of the call, which tells what the handler does. */
export function contextWith(context: HandlerContext, ears: HandlerEars): HandlerContext {
  const part = requestPart(context);
  const wrapped = Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      if (typeof value !== 'function') return [name, value];
      if (notifying.includes(name)) return [name, notify(part, value as AnyFunction, ears)];
      return [name, asking.includes(name) ? ask(part, value as AnyFunction, ears) : value];
    }),
  );
  const fresh = { ...wrapped, signal: ears.signal };
  return part === context ? fresh : { ...context, mcpReq: fresh };
}

/**
 * Has what a handler tells and asks the client by its server, rather than by its context, be heard too.
 * @param earsOf - those of the call in whose doing this is asked, if any.
 */
export function hearServer(server: object, earsOf: () => HandlerEars | undefined): void {
  const { notification, request } = server as { notification?: unknown; request?: unknown };
  if (typeof notification === 'function') {
    Reflect.set(server, 'notification', (...args: unknown[]) => {
      earsOf()?.alive();
      return (notification as AnyFunction).apply(server, args);
    });
  }
  if (typeof request === 'function') {
    Reflect.set(server, 'request', (...args: unknown[]) => {
      const ears = earsOf();
      const original = request as AnyFunction;
      return ears === undefined ? original.apply(server, args) : ask(server, original, ears)(...args);
    });
  }
}

type AnyFunction = (...args: unknown[]) => unknown;

/** As the SDKs have it of a cancelled request: what is told is dropped, what is asked is refused. */
function notify(part: HandlerContext, original: AnyFunction, ears: HandlerEars): AnyFunction {
  return (...args) => {
    if (ears.signal.aborted) return Promise.resolve();
    ears.alive();
    return original.apply(part, args);
  };
}

function ask(part: object, original: AnyFunction, ears: HandlerEars): AnyFunction {
  return async (...args) => {
    ears.signal.throwIfAborted();
    const answered = ears.asks();
    try {
      return await original.apply(part, args);
    } finally {
      answered();
    }
  };
}

function isObject(value: unknown): value is HandlerContext {
  return typeof value === 'object' && value !== null;
}
