import type { Effect } from '../../src/policy/face.ts';
import { type McpParams, idKey } from '../../src/protocol/mcp/face.ts';

const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['initialize', 'idempotent'],
  ['ping', 'readOnly'],
  ['server/discover', 'readOnly'],
  ['tools/list', 'readOnly'],
  ['prompts/list', 'readOnly'],
  ['prompts/get', 'readOnly'],
  ['resources/list', 'readOnly'],
  ['resources/templates/list', 'readOnly'],
  ['resources/read', 'readOnly'],
  ['completion/complete', 'readOnly'],
  ['logging/setLevel', 'idempotent'],
  ['resources/subscribe', 'idempotent'],
  ['resources/unsubscribe', 'idempotent'],
  ['tasks/get', 'readOnly'],
  ['tasks/list', 'readOnly'],
  ['tasks/result', 'readOnly'],
  ['tasks/update', 'idempotent'],
  ['tasks/cancel', 'idempotent'],
]);

/** Tells what a request does to the world by its method; undefined where the method does not say, as of tools and unknown methods. */
export function effectOfMethod(method: string): Effect | undefined {
  return effects.get(method);
}

/** Tells what an agent asks for from what keeps it in touch with a server: handshakes, lists, signs of life, subscriptions, looks at tasks. */
export const isWork = (method: string): boolean =>
  !/^(?:initialize|ping|server\/|logging\/|tasks\/|subscriptions\/|resources\/(?:un)?subscribe|.+\/list$)/.test(method);

/** Requests that ask people: their answer may take its time. */
export function asksPeople(method: string): boolean {
  return method === 'sampling/createMessage' || method === 'elicitation/create';
}

/** The key of the progress token in a request or a progress notification; undefined when there is none. */
export function progressKey(holder: McpParams): string | undefined {
  return idKey(holder['progressToken']);
}
