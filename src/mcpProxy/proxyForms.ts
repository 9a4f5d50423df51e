import type { RequestForms } from '../calls/boundRule.ts';
import { mcpForms } from '../calls/requestForms.ts';
import { fieldsOf, type McpAnswer } from '../protocol/mcp/message.ts';
import type { ClientCall } from './clientCall.ts';

/** Forms of the calls and answers of a proxy, for reconcile rules. A call takes its key into the line that is written. */
export const proxyForms: RequestForms = {
  about(call) {
    const { tool, request } = call as ClientCall;
    return { tool, input: request.params['arguments'] ?? {} };
  },
  answer: (result): McpAnswer => ({
    kind: 'answer',
    key: undefined,
    result: fieldsOf(mcpForms.answer(result)),
    error: undefined,
    flaw: undefined,
  }),
  keysIn: mcpForms.keysIn,
  keyed(call, place, key) {
    (call as ClientCall).takeKey(place, key);
    return call;
  },
};
