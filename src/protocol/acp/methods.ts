import { type McpParams, fieldsOf } from '../mcp/message.ts';

/** JSON-RPC code of a request that was cancelled. */
export const cancelledCode = -32_800;

/** Field in the `_meta` of an update that is a note of ours to the reader, and no word of the agent. */
export const noteField = 'unwedge/note';

/** Requests after which the agent has a session, by what names it: a parameter, or the result. */
export const sessionOpeners: ReadonlyMap<string, 'params' | 'result'> = new Map([
  ['session/new', 'result'],
  ['session/fork', 'result'],
  ['session/load', 'params'],
  ['session/resume', 'params'],
]);

/** Requests that change how a session goes on: a new agent is told the last of each. */
const settingRequests = /^session\/set_/;
/** Requests that may be asked of a second agent where the first died over them: they only look, or begin anew. */
const repeatable =
  /^(?:initialize|authenticate|session\/(?:new|load|resume|list|close|delete|fork|set_\w+)|providers\/list)$/;

export const isSetting = (method: string): boolean => settingRequests.test(method);

export const isRepeatable = (method: string): boolean => repeatable.test(method);

/** Tells whether a person has to act before a request of an agent is answered. */
export const asksPerson = (method: string): boolean =>
  method === 'session/request_permission' || method.startsWith('elicitation/');

/** Tells whether the client does something to files or the machine when it answers. */
export const actsByClient = (method: string): boolean =>
  method === 'fs/write_text_file' || method === 'terminal/create';

/** The session that a message is of; undefined where it names none. */
export function sessionIn({ sessionId }: McpParams): string | undefined {
  return typeof sessionId === 'string' ? sessionId : undefined;
}

/** Ways in which an agent can go on with a session of an earlier process of it, the best first. */
export function waysBack(initialized: McpParams): readonly ('session/load' | 'session/resume')[] {
  const capabilities = fieldsOf(initialized['agentCapabilities']);
  const { resume } = fieldsOf(capabilities['sessionCapabilities']);
  return [
    ...(capabilities['loadSession'] === true ? (['session/load'] as const) : []),
    ...(typeof resume === 'object' && resume !== null ? (['session/resume'] as const) : []),
  ];
}
