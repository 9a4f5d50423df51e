import { recordIn, textIn } from '../../../src/protocol/face.ts';
import { type CodexItem, readItem } from './items.ts';

/** Tokens as Codex counts them. */
export interface CodexTokens {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
  readonly reasoning: number;
  readonly total: number;
}

/** An error of a turn, as Codex tells it: on the way, or at its end. */
export interface CodexTurnError {
  readonly message: string;
  /** A word of Codex's list, and the HTTP status it may come with. */
  readonly info: string | undefined;
  readonly status: number | undefined;
  readonly details: string | undefined;
}

/** Thread and turn of a notification; either may be absent. */
interface CodexAddress {
  readonly thread: string | undefined;
  readonly turn: string | undefined;
}

/** Content of a notification, as far as it is understood. */
export type CodexNotice = CodexAddress &
  (
    | { readonly kind: 'turnStarted' }
    | { readonly kind: 'turnCompleted'; readonly status: string; readonly error: CodexTurnError | undefined }
    | { readonly kind: 'itemStarted' | 'itemCompleted'; readonly item: CodexItem }
    | { readonly kind: 'text' | 'reasoning' | 'output'; readonly item: string; readonly text: string }
    | { readonly kind: 'tokens'; readonly total: CodexTokens; readonly last: CodexTokens }
    | { readonly kind: 'error'; readonly error: CodexTurnError; readonly willRetry: boolean }
    | { readonly kind: 'requestResolved'; readonly request: number | string }
    | { readonly kind: 'threadIdle' }
    /** Method of the protocol, or of a later one; `known` says which. */
    | { readonly kind: 'other'; readonly known: boolean }
    /** Fields that the method needs are missing or of another type. */
    | { readonly kind: 'malformed' }
  );

/** Beginnings of the methods of this version that need no reading. */
const knownRooms =
  /^(?:account|app|autoApprovalReview|command|externalAgentConfig|fs|fuzzyFileSearch|hook|item|mcpServer|model|modelProvider|process|project|rawResponse|rawResponseItem|remoteControl|serverRequest|skills|thread|turn|windows|windowsSandbox)\//;
const knownWords: ReadonlySet<string> = new Set([
  'configWarning',
  'deprecationNotice',
  'error',
  'guardianWarning',
  'warning',
]);

/** Reads a notification, leniently: what is not needed may be missing. Never throws. */
export function readNotice(method: string, given: unknown): CodexNotice {
  const params = recordIn(given) ?? {};
  const turn = recordIn(params['turn']);
  const address = {
    thread: textIn(params['threadId']) ?? textIn(params['conversationId']),
    turn: textIn(params['turnId']) ?? textIn(turn?.['id']),
  };
  const malformed: CodexNotice = { ...address, kind: 'malformed' };
  switch (method) {
    case 'turn/started':
      return address.thread === undefined || address.turn === undefined
        ? malformed
        : { ...address, kind: 'turnStarted' };
    case 'turn/completed': {
      const status = textIn(turn?.['status']);
      if (address.thread === undefined || status === undefined) return malformed;
      return { ...address, kind: 'turnCompleted', status, error: readTurnError(turn?.['error']) };
    }
    case 'item/started':
    case 'item/completed': {
      const item = readItem(params['item']);
      if (address.thread === undefined || item === undefined) return malformed;
      return { ...address, kind: method === 'item/started' ? 'itemStarted' : 'itemCompleted', item };
    }
    case 'item/agentMessage/delta':
      return delta(address, 'text', params);
    case 'item/reasoning/textDelta':
    case 'item/reasoning/summaryTextDelta':
      return delta(address, 'reasoning', params);
    case 'item/commandExecution/outputDelta':
      return delta(address, 'output', params);
    case 'thread/tokenUsage/updated': {
      const usage = recordIn(params['tokenUsage']);
      if (address.thread === undefined || recordIn(usage?.['total']) === undefined) return malformed;
      return { ...address, kind: 'tokens', total: readTokens(usage?.['total']), last: readTokens(usage?.['last']) };
    }
    case 'error': {
      const error = readTurnError(params['error']);
      return error === undefined
        ? malformed
        : { ...address, kind: 'error', error, willRetry: params['willRetry'] === true };
    }
    case 'serverRequest/resolved': {
      const request = params['requestId'];
      const isId = typeof request === 'number' || typeof request === 'string';
      return isId ? { ...address, kind: 'requestResolved', request } : malformed;
    }
    // Whatever went on in it is over.
    case 'thread/closed':
      return { ...address, kind: 'threadIdle' };
    case 'thread/status/changed': {
      const type = recordIn(params['status'])?.['type'];
      // Not loaded, in error or idle: whatever it was, nothing is under way.
      const over = type === 'idle' || type === 'notLoaded' || type === 'systemError';
      return over ? { ...address, kind: 'threadIdle' } : { ...address, kind: 'other', known: true };
    }
    default:
      return { ...address, kind: 'other', known: knownWords.has(method) || knownRooms.test(method) };
  }
}

/** Reads the error of a turn, or of a notice of one; undefined when there is none. */
export function readTurnError(value: unknown): CodexTurnError | undefined {
  const error = recordIn(value);
  const message = textIn(error?.['message']) ?? textIn(value);
  if (message === undefined) return undefined;
  const given = error?.['codexErrorInfo'];
  const record = recordIn(given);
  const [info, about] = record === undefined ? [textIn(given), undefined] : (Object.entries(record)[0] ?? []);
  const status = recordIn(about)?.['httpStatusCode'];
  return {
    message,
    info,
    status: typeof status === 'number' ? status : undefined,
    details: textIn(error?.['additionalDetails']),
  };
}

/** Tells whether a notification shows that its turn gets on. Retries that are announced, and what surrounds a turn, do not. */
export function isProgress(method: string): boolean {
  return method.startsWith('item/') || method.startsWith('turn/') || method.startsWith('rawResponse');
}

function delta(
  address: CodexAddress,
  kind: 'text' | 'reasoning' | 'output',
  params: Readonly<Record<string, unknown>>,
): CodexNotice {
  const item = textIn(params['itemId']);
  const text = params['delta'];
  if (address.thread === undefined || item === undefined || typeof text !== 'string') {
    return { ...address, kind: 'malformed' };
  }
  return { ...address, kind, item, text };
}

function readTokens(value: unknown): CodexTokens {
  const counts = recordIn(value) ?? {};
  const count = (name: string): number => {
    const given = counts[name];
    return typeof given === 'number' && Number.isFinite(given) ? given : 0;
  };
  return {
    input: count('inputTokens'),
    cachedInput: count('cachedInputTokens'),
    output: count('outputTokens'),
    reasoning: count('reasoningOutputTokens'),
    total: count('totalTokens'),
  };
}
