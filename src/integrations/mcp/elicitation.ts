import type { McpRequestContext } from '../../actors/mcp/mcpClient.ts';
import type { AskedByServer } from '../../actors/mcp/mcpConnectionHost.ts';
import { fieldsOf, type McpParams } from '../../protocol/mcp/message.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Asked, Asking, Inbox } from '../../sessions/inbox.ts';

/** Words of an elicitation for people, and the form of their answer. @param asker - name of the server. */
export function elicitationAsking(asker: string, { message, requestedSchema: schema, mode, url }: McpParams) {
  const fields = fieldsOf(fieldsOf(schema)['properties']);
  const isForm = Object.keys(fields).length > 0;
  return {
    ...{ source: 'elicitation', asker },
    what: typeof message === 'string' ? message : `${asker} asks for an answer`,
    detail: mode === 'url' ? { url } : isForm ? { fields } : undefined,
    form: isForm ? { is: 'fields', schema } : { is: 'decision' },
  } satisfies Asking;
}

/** The result for the server: `cancel` where nobody answered. */
export function elicitationResult({ answer, question }: Asked, { mode }: McpParams): McpParams {
  if (answer === undefined) return { action: 'cancel' };
  if (answer.decision !== 'accept') return { action: 'decline' };
  if (mode === 'url') return { action: 'accept' };
  return { action: 'accept', content: question?.form.is === 'fields' ? answer.value : {} };
}

/** Has people in the inbox answer the elicitations of a server. Its calls go on as long as people are waited for. */
export function elicitedIn(inbox: Inbox, name: string, { clock }: Runtime, everyMs: number): AskedByServer {
  return async (params, signal, calls) => {
    // Of several calls nobody knows which one it was asked for.
    const session = calls.size === 1 ? sessionOf([...calls][0]) : undefined;
    const beat = (): void => {
      for (const { extend } of calls) extend?.(everyMs);
      timer = clock.setTimeout(beat, everyMs);
    };
    let timer = clock.setTimeout(beat, 0);
    const end = await inbox.ask({ ...elicitationAsking(name, params), session, signal });
    clock.clearTimeout(timer);
    return elicitationResult(end, params);
  };
}

function sessionOf(context: McpRequestContext | undefined): string | undefined {
  const { session } = fieldsOf(fieldsOf(context?.call)['settings']);
  return typeof session === 'string' ? session : undefined;
}
