import { type McpAnswer, type McpParams, fieldsOf } from '../../src/protocol/mcp/face.ts';
import type { Asked } from '../../src/sessions/face.ts';
import type { AcpScope } from './scope.ts';

/** Time within which no person can have read a question, in ms: a client that dismisses it by then has nobody to ask. */
const unreadMs = 2000;

/** A permission that the client and people in the inbox are asked for at once. */
export interface AskedPermission {
  /** The client's answer: it counts where nobody was faster. */
  choose(option: string): void;
  /** Nobody waits for it any more. */
  withdraw(): void;
}

/** Puts a permission in the inbox. @param ended - told how it ended, once. @returns undefined where no inbox is on. */
export function askPermission(
  { runtime, name }: Pick<AcpScope, 'runtime' | 'name'>,
  { params, session }: { readonly params: McpParams; readonly session: string | undefined },
  ended: (asked: Asked) => void,
): AskedPermission | undefined {
  const { inbox } = runtime;
  if (inbox === undefined) return undefined;
  const { title, kind, rawInput: input } = fieldsOf(params['toolCall']);
  const options = optionsIn(params).map(({ optionId, name: words }) => ({ id: String(optionId), name: String(words) }));
  const over = new AbortController();
  let choose: (option: string) => void = () => undefined;
  const chosen = new Promise<string>((resolve) => (choose = resolve));
  void inbox
    .ask({
      ...{ source: 'permission', asker: name, session, signal: over.signal },
      what: typeof title === 'string' ? title : 'use a tool',
      detail: { kind, input },
      form: { is: 'choice', options },
      handler: async () => ({ decision: 'accept', value: await chosen, by: 'the client' }),
    })
    .then(ended);
  return { choose, withdraw: () => over.abort() };
}

/** The option that the client chose, among those that it was given; `none`: nobody was there to choose. */
export function choiceIn(
  params: McpParams,
  { result }: McpAnswer,
  waitedMs: number,
): { option: string } | 'none' | undefined {
  const { outcome, optionId } = fieldsOf(fieldsOf(result)['outcome']);
  const known = optionsIn(params).some((each) => each['optionId'] === optionId);
  if (outcome === 'selected' && known) return { option: String(optionId) };
  return result === undefined || (outcome === 'cancelled' && waitedMs < unreadMs) ? 'none' : undefined;
}

/** The result that tells an agent how people decided: without a choice of theirs it is refused, for this once. */
export function permissionOf(params: McpParams, { answer }: Asked): McpParams {
  const refused = optionsIn(params).find(({ kind }) => kind === 'reject_once');
  const optionId = answer?.decision === 'accept' ? answer.value : refused?.['optionId'];
  return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
}

function optionsIn({ options }: McpParams): readonly McpParams[] {
  return Array.isArray(options) ? options.map(fieldsOf) : [];
}
