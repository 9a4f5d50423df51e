/** What the global `fetch` sends its requests by, under the names that undici gives it. */
const names = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'].map((name) => Symbol.for(name));

interface Dispatcher {
  dispatch(request: object, handler: unknown): unknown;
}

/**
 * For the global `fetch`: its requests go where they would go, a proxy among them, but without the limits of 300 s on headers and body that
 * Node has there. Empty where it cannot be had: those limits hold then.
 */
export function withoutFetchLimits(): object {
  if (!names.some((name) => isDispatcher(Reflect.get(globalThis, name)))) return {};
  return { dispatcher };
}

const dispatcher: Dispatcher = {
  dispatch(request, handler) {
    // Looked for at each request: a host may set another one.
    const own = names.map((name) => Reflect.get(globalThis, name) as unknown).find(isDispatcher);
    if (own === undefined) throw new TypeError('fetch has lost its dispatcher');
    return own.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'dispatch') === 'function';
}
