import type { ProcessExit } from '../../machines/subprocessExit.ts';
import type { Clock } from '../../policy/clock.ts';
import { type RequestForms, withValueAt } from './boundRule.ts';

/** Forms of the requests and answers of one kind of integration for reconcile rules. */
export interface ToolForms extends RequestForms {
  /** Reads the content of an answer, as data. */
  readonly read: (answer: unknown) => unknown;
  /** Reads the rest of it, of which a list may be a part: a next page, a cursor. @defaultValue nothing */
  readonly beside?: ((answer: unknown) => unknown) | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const asIs = (value: unknown): unknown => value;

/** Forms of a function: `{ tool, input }` where a session calls it as a tool, else its input as it is. */
export const functionForms: ToolForms = {
  about(request) {
    const { tool } = fieldsOf(request);
    return typeof tool === 'string' ? { tool, input: fieldsOf(request)['input'] } : { tool: undefined, input: request };
  },
  answer: asIs,
  keysIn: ['input'],
  keyed(request, { name }, key) {
    const fields = fieldsOf(request);
    if (typeof fields['tool'] !== 'string') return withValueAt(request, name, key);
    return { ...fields, input: withValueAt(fields['input'], name, key) };
  },
  read: asIs,
};

/** Forms of a command: the request of a run is the input, and the JSON of its stdout its answer. A result becomes the stdout of a run. */
export const commandForms = (clock: Pick<Clock, 'wallNow'>): ToolForms => ({
  about: (request) => ({ tool: undefined, input: request }),
  answer(result) {
    if (typeof fieldsOf(fieldsOf(result)['stdout'])['text'] === 'string') return result;
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    const stdout = { text, bytes: Buffer.byteLength(text), omittedBytes: 0 };
    const stderr = { text: '', bytes: 0, omittedBytes: 0 };
    const message = 'Its end was lost, and it was found out what it did';
    const end = { elapsedMs: 0, endedAt: clock.wallNow(), message };
    return { reason: 'exit', exitCode: 0, stdout, stderr, ...end } satisfies ProcessExit;
  },
  keysIn: [],
  keyed: asIs,
  read: (answer) => jsonIn(fieldsOf(fieldsOf(answer)['stdout'])['text']),
});

/** Forms of an HTTP API: the request is the input, and the body of an answer what it says. */
export const httpForms: ToolForms = {
  about: (request) => ({ tool: undefined, input: request }),
  answer(result) {
    const { status, headers } = fieldsOf(result);
    const isAnswer = typeof status === 'number' && typeof headers === 'object';
    return isAnswer ? result : { status: 200, headers: {}, body: result };
  },
  keysIn: ['header', 'input'],
  keyed(request, { in: where, name }, key) {
    const fields = fieldsOf(request);
    if (where === 'input') return withValueAt(fields, name, key);
    return { ...fields, headers: { ...fieldsOf(fields['headers']), [name]: key } };
  },
  read: (answer) => fieldsOf(answer)['body'],
  // RFC 8288.
  beside(answer) {
    const { headers } = fieldsOf(answer);
    const link = headers instanceof Headers ? headers.get('link') : fieldsOf(headers)['link'];
    return { next: typeof link === 'string' && /rel="?next\b/i.test(link) };
  },
};

/** Longest text of an answer that is read as JSON, in characters. */
const mostText = 5_000_000;

/** Forms of an MCP server: the arguments of the tool are the input, and an answer says what is structured in it, or the JSON in its text. */
export const mcpForms: ToolForms = {
  about(request) {
    const { name, arguments: given } = fieldsOf(request);
    return { tool: typeof name === 'string' ? name : undefined, input: given ?? {} };
  },
  answer(result) {
    if (Array.isArray(fieldsOf(result)['content'])) return result;
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');
    const isObject = typeof result === 'object' && result !== null && !Array.isArray(result);
    return { content: [{ type: 'text', text }], ...(isObject && { structuredContent: result }) };
  },
  keysIn: ['input', 'meta'],
  keyed(request, { in: where, name }, key) {
    const fields = fieldsOf(request);
    if (where === 'meta') return { ...fields, _meta: { ...fieldsOf(fields['_meta']), [name]: key } };
    return { ...fields, arguments: withValueAt(fields['arguments'], name, key) };
  },
  beside(answer) {
    const { structuredContent: _, content: __, ...rest } = fieldsOf(answer);
    return rest;
  },
  read(answer) {
    const { structuredContent, content } = fieldsOf(answer);
    if (structuredContent !== undefined) return structuredContent;
    const texts = (Array.isArray(content) ? content : []).map((part) => fieldsOf(part)['text']);
    return texts.length === 1 ? jsonIn(texts[0]) : undefined;
  },
};

function jsonIn(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > mostText) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
