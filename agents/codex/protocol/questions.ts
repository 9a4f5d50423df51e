import type { QuestionForm } from '../../../src/policy/records/face.ts';
import { type RpcError, recordIn, rpcErrors, textIn } from '../../../src/protocol/face.ts';

/** Kind of what Codex asks for: leave to run a command, change files or have permissions; an answer of a person; a tool of the host. */
export type CodexQuestionKind = 'command' | 'fileChange' | 'permissions' | 'userInput' | 'elicitation' | 'toolCall';

/** A request of the app-server that somebody has to decide on. */
export interface CodexQuestion {
  readonly kind: CodexQuestionKind;
  /** In short: the command, the tool, the question. */
  readonly action: string;
  readonly thread: string | undefined;
  readonly turn: string | undefined;
  readonly item: string | undefined;
  /** Why Codex asks, where it says. */
  readonly reason: string | undefined;
  readonly method: string;
  /** Data to judge by, as Codex sent it. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Answer to a question; the word alone will do where nothing else is needed. */
export interface CodexReply {
  readonly decision: 'accept' | 'decline';
  readonly reason?: string | undefined;
  /** `command`, `fileChange`, `permissions`: also for the like of it in this session. @defaultValue false */
  readonly forSession?: boolean | undefined;
  /** `command`, `fileChange`: a decline that ends the turn. @defaultValue false */
  readonly interrupt?: boolean | undefined;
  /** `userInput`: the answers, by the id of their question. Needed to accept. */
  readonly answers?: Readonly<Record<string, readonly string[]>> | undefined;
  /** `elicitation`: what was filled in. */
  readonly content?: unknown;
  /** `permissions`: what is granted. @defaultValue what was asked for */
  readonly permissions?: Readonly<Record<string, unknown>> | undefined;
  /** `toolCall`: what the tool gave. Needed to accept. */
  readonly result?: string | readonly Readonly<Record<string, unknown>>[] | undefined;
}

const kinds: Readonly<Record<string, CodexQuestionKind>> = {
  'item/commandExecution/requestApproval': 'command',
  'item/fileChange/requestApproval': 'fileChange',
  'item/permissions/requestApproval': 'permissions',
  'item/tool/requestUserInput': 'userInput',
  'mcpServer/elicitation/request': 'elicitation',
  'item/tool/call': 'toolCall',
  execCommandApproval: 'command',
  applyPatchApproval: 'fileChange',
};

/** Methods from before threads and turns, which take other words for an answer. */
const oldMethods: ReadonlySet<string> = new Set(['execCommandApproval', 'applyPatchApproval']);

/** Reads a request of the app-server; undefined when it is none that can be decided on. Parameters that are missing are left out. */
export function readQuestion(method: string, given: unknown): CodexQuestion | undefined {
  const kind = Object.hasOwn(kinds, method) ? kinds[method] : undefined;
  if (kind === undefined) return undefined;
  const params = recordIn(given) ?? {};
  return {
    kind,
    action: actionOf(kind, params),
    thread: textIn(params['threadId']) ?? textIn(params['conversationId']),
    turn: textIn(params['turnId']),
    item: textIn(params['itemId']) ?? textIn(params['callId']),
    reason: textIn(params['reason']),
    method,
    params,
  };
}

function actionOf(kind: CodexQuestionKind, params: Readonly<Record<string, unknown>>): string {
  switch (kind) {
    case 'command': {
      const { command } = params;
      return textIn(command) ?? (Array.isArray(command) ? command.map(String).join(' ') : 'run a command');
    }
    case 'fileChange':
      return textIn(params['grantRoot'])?.replace(/^/, 'write below ') ?? 'change files';
    case 'permissions':
      return 'have more permissions';
    case 'userInput': {
      const [first] = Array.isArray(params['questions']) ? (params['questions'] as unknown[]) : [];
      return textIn(recordIn(first)?.['question']) ?? 'answer a question';
    }
    case 'elicitation':
      return textIn(params['message']) ?? 'answer an MCP server';
    case 'toolCall':
      return `call ${textIn(params['tool']) ?? 'a tool'}`;
  }
}

/** Data to judge by that are the same when it is asked again: no ids, no times. */
export function detailOf({ kind, reason, params }: CodexQuestion): unknown {
  const lasting = Object.entries(params).filter(([name]) => !/Id$|At(?:Ms)?$/.test(name));
  return { kind, reason, ...Object.fromEntries(lasting) };
}

/** Form of the answer that people give, which {@link acceptance} takes as `given`. */
export function formOf({ kind, params }: CodexQuestion): QuestionForm {
  const schema = recordIn(params['requestedSchema']);
  if (kind === 'elicitation' && Object.keys(recordIn(schema?.['properties']) ?? {}).length > 0)
    return { is: 'fields', schema };
  if (kind !== 'userInput') return { is: 'decision' };
  const questions = askedIn(params);
  if (questions.length === 1) return { is: 'text' };
  const fields = questions.map(({ id, question }) => [id, { type: 'string', description: question }]);
  return { is: 'fields', schema: { type: 'object', properties: Object.fromEntries(fields) as object } };
}

/** Makes the reply of what people gave in that form. */
export function replyOfForm({ kind, params }: CodexQuestion, given: unknown): Partial<CodexReply> {
  if (kind === 'elicitation') return { content: given ?? {} };
  if (kind !== 'userInput') return {};
  const fields = typeof given === 'string' ? askedIn(params).map(({ id }) => [id, given]) : Object.entries(given ?? {});
  return { answers: Object.fromEntries(fields.map(([id, text]) => [id, [String(text)]])) };
}

const askedIn = (params: CodexQuestion['params']) =>
  (Array.isArray(params['questions']) ? params['questions'] : []).map((each) => {
    const { id, question } = recordIn(each) ?? {};
    return { id: textIn(id) ?? '', question };
  });

/** The result that accepts; undefined when the reply lacks what it takes, which declines. */
export function acceptance(question: CodexQuestion, reply: CodexReply): unknown {
  switch (question.kind) {
    case 'command':
    case 'fileChange': {
      if (oldMethods.has(question.method)) {
        return { decision: reply.forSession === true ? 'approved_for_session' : 'approved' };
      }
      return { decision: reply.forSession === true ? 'acceptForSession' : 'accept' };
    }
    case 'permissions': {
      const permissions = reply.permissions ?? recordIn(question.params['permissions']) ?? {};
      return { permissions: withoutNulls(permissions), scope: reply.forSession === true ? 'session' : 'turn' };
    }
    case 'userInput': {
      if (recordIn(reply.answers) === undefined) return undefined;
      const answers = Object.entries(reply.answers ?? {});
      return { answers: Object.fromEntries(answers.map(([id, given]) => [id, { answers: [given].flat() }])) };
    }
    case 'elicitation':
      return { action: 'accept', content: reply.content ?? null, _meta: null };
    case 'toolCall': {
      const { result } = reply;
      if (typeof result === 'string') return { contentItems: [{ type: 'inputText', text: result }], success: true };
      return Array.isArray(result) ? { contentItems: result, success: true } : undefined;
    }
  }
}

/** The result that declines. */
export function refusal(question: CodexQuestion, reason: string | undefined, interrupt = false): unknown {
  switch (question.kind) {
    case 'command':
    case 'fileChange':
      if (oldMethods.has(question.method)) {
        return { decision: interrupt ? 'abort' : { denied: { rejection: reason ?? 'declined' } } };
      }
      return { decision: interrupt ? 'cancel' : 'decline' };
    case 'permissions':
      return { permissions: {}, scope: 'turn' };
    case 'userInput':
      return { answers: {} };
    case 'elicitation':
      return { action: 'decline', content: null, _meta: null };
    case 'toolCall':
      return { contentItems: [{ type: 'inputText', text: reason ?? 'The call was declined.' }], success: false };
  }
}

/** The answer to a request that is not understood. */
export function notUnderstood(method: string): RpcError {
  return { code: rpcErrors.methodNotFound, message: `${method.slice(0, 200)} is not supported by this client` };
}

/** Drops nulls: what was asked for names its absent parts by null, a grant leaves them out. */
function withoutNulls(permissions: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null));
}
