import { hearServer } from './handlerContext.ts';
import { currentCall } from './runningCall.ts';

/** Shape that is asked of a server; that of either official SDK has it. */
export interface McpServerLike {
  registerTool(name: string, config: never, handler: never): unknown;
}

type Handler = (...args: unknown[]) => unknown;
/** Makes the handler that stands in for another. */
type Wrap = (tool: string, handler: Handler) => Handler;

const wrapped = new WeakSet<object>();

/**
 * Has every tool of a server wrapped: those it has, those it will have, and handlers it is given in place of others.
 * @throws TypeError when it is no server of an SDK we know, or was wrapped before.
 */
export function wrapTools(server: McpServerLike, wrap: Wrap): void {
  const known: unknown = isObject(server) ? Reflect.get(server, '_registeredTools') : undefined;
  if (!isObject(server) || typeof server.registerTool !== 'function' || !isObject(known)) {
    throw new TypeError(
      'Expected `server` to be an McpServer of @modelcontextprotocol/sdk or @modelcontextprotocol/server',
    );
  }
  if (wrapped.has(server)) throw new TypeError('Expected `server` to be supervised once');
  wrapped.add(server);
  // The SDKs have no public way to the tools that were registered before.
  for (const [name, tool] of Object.entries(known)) adopt(name, tool, wrap);
  const protocol: unknown = Reflect.get(server, 'server');
  if (isObject(protocol)) hearServer(protocol, currentCall);
  for (const method of ['registerTool', 'tool']) {
    const original: unknown = Reflect.get(server, method);
    if (typeof original === 'function') Reflect.set(server, method, registering(server, original as Handler, wrap));
  }
}

/** Tells whether the server has a client, as far as it says. */
export function isConnected(server: McpServerLike): boolean {
  const question: unknown = Reflect.get(server, 'isConnected');
  return typeof question === 'function' ? question.call(server) !== false : true;
}

/** The handler comes last, whatever stands before it. */
function registering(server: McpServerLike, original: Handler, wrap: Wrap): Handler {
  return (name, ...rest) => {
    const handler = rest.at(-1);
    if (typeof name !== 'string' || typeof handler !== 'function') return original.call(server, name, ...rest);
    const tool = original.call(server, name, ...rest.slice(0, -1), wrap(name, handler as Handler));
    watchUpdates(name, tool, wrap);
    return tool;
  };
}

/** Wraps a tool that is there already. That of an experimental task has no function for a handler. */
function adopt(name: string, tool: unknown, wrap: Wrap): void {
  if (!isObject(tool)) return;
  const handler: unknown = Reflect.get(tool, 'handler');
  const update: unknown = Reflect.get(tool, 'update');
  if (typeof handler !== 'function' || typeof update !== 'function') return;
  update.call(tool, { callback: wrap(name, handler as Handler) });
  watchUpdates(name, tool, wrap);
}

/** A tool can be given another handler, and another name, at any time. */
function watchUpdates(name: string, tool: unknown, wrap: Wrap): void {
  const original: unknown = isObject(tool) ? Reflect.get(tool, 'update') : undefined;
  if (!isObject(tool) || typeof original !== 'function') return;
  let current = name;
  Reflect.set(tool, 'update', (updates: unknown) => {
    const next: unknown = isObject(updates) ? Reflect.get(updates, 'name') : undefined;
    if (typeof next === 'string') current = next;
    const callback: unknown = isObject(updates) ? Reflect.get(updates, 'callback') : undefined;
    const given =
      typeof callback === 'function'
        ? { ...(updates as object), callback: wrap(current, callback as Handler) }
        : updates;
    return original.call(tool, given) as unknown;
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
