import { parsedJson } from '../policy/text/parsedJson.ts';
import { read } from '../policy/failures/errorChain.ts';

/** Events that tell how far an answer is, and nothing of it. */
const signs: ReadonlySet<string> = new Set([
  'ping',
  'keepalive',
  'content_block_stop',
  'response.created',
  'response.queued',
  'response.in_progress',
]);
/** So much of the data is looked at for the type, in characters. */
const headLength = 2000;
/** A longer event is no empty one, in characters. */
const longestEmpty = 16_384;
/** Fields beside the words of an answer. */
const beside: ReadonlySet<string> = new Set(
  'type role id call_id item_id object status phase format encrypted_content'.split(' '),
);
/** Depth to which words of an answer lie. */
const deepest = 6;

/**
 * Tells whether an event of a model's API holds something of its answer: a word, a thought, a call, the reason of its end. Pings, frames of an
 * answer that has not begun, and deltas that are empty hold nothing. What is not known counts as content.
 * @param name - the name of the event; undefined: the type in its data.
 */
export function isModelContent(name: string | undefined, data: string): boolean {
  const known = name ?? /"type"\s*:\s*"([\w.]+)"/.exec(data.slice(0, headLength))?.[1];
  if (known !== undefined && signs.has(known)) return false;
  // The end of a chat completion is no JSON, and what is none takes long to find out.
  if (data.length > longestEmpty || data.trim() === '[DONE]') return true;
  const body = parsedJson(data);
  if (typeof body !== 'object' || body === null) return data.trim() !== '';
  return ofEvent(known, body) ?? ofChunk(body) ?? true;
}

/** Types of events with a part of the text of an answer, or of a thought. */
const textTypes = /^(?:content_block_delta|response\.\w*(?:text|refusal)\.delta)$/;
const textField = /"(?:text|content|delta|thinking|reasoning|reasoning_content)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/;

/** The words that an event adds to the text of an answer, or to a thought; no arguments of calls, and no text that is told as a whole once more. */
export function wordsIn(name: string | undefined, data: string): string {
  const type = name ?? /"type"\s*:\s*"([\w.]+)"/.exec(data.slice(0, 300))?.[1];
  if (type === undefined ? /"(?:functionCall|tool_calls)"/.test(data) : !textTypes.test(type)) return '';
  const said = textField.exec(data)?.[1] ?? '';
  const read = said.includes('\\') ? parsedJson(`"${said}"`) : said;
  return typeof read === 'string' ? read : '';
}

/** Judges events that have names; undefined for any other. */
function ofEvent(name: string | undefined, body: object): boolean | undefined {
  switch (name) {
    case undefined:
      return undefined;
    case 'message_start':
      return hasWords(read(read(body, 'message'), 'content'));
    case 'content_block_start':
      return hasWords(read(body, 'content_block'));
    case 'content_block_delta':
      return hasWords(read(body, 'delta'));
    case 'message_delta':
      return isText(read(read(body, 'delta'), 'stop_reason'));
    case 'response.output_item.added': {
      const item = read(body, 'item');
      const type = read(item, 'type');
      // A thought has begun that may be silent for minutes.
      return type === 'message' ? hasWords(read(item, 'content')) : type !== 'reasoning';
    }
    default:
      if (name.endsWith('.delta')) return wordsOf(body, 'delta');
      return name.endsWith('_part.added') ? wordsOf(body, 'part') : undefined;
  }
}

/** Judges an event whose words are in this field; undefined where they are not. */
function wordsOf(body: object, key: string): boolean | undefined {
  const words = read(body, key);
  return typeof words === 'string' || (typeof words === 'object' && words !== null) ? hasWords(words) : undefined;
}

/** Judges chunks of a chat completion and of Gemini; undefined for any other. */
function ofChunk(body: object): boolean | undefined {
  for (const [list, words, end] of [
    ['choices', ['delta', 'message', 'text'], 'finish_reason'],
    ['candidates', ['content'], 'finishReason'],
  ] as const) {
    const parts = read(body, list);
    if (!Array.isArray(parts)) continue;
    return parts.some((part) => words.some((key) => hasWords(read(part, key))) || isText(read(part, end)));
  }
  return undefined;
}

function hasWords(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value !== 'object' || value === null || depth > deepest) return false;
  if (Array.isArray(value)) return value.some((item) => hasWords(item, depth + 1));
  return Object.entries(value).some(([key, inner]) => !beside.has(key) && hasWords(inner, depth + 1));
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
