import { textHint } from '../failures/textHints.ts';
import { fingerprint, paired, textFingerprint } from './fingerprint.ts';
import { evenText, withoutVolatile } from './volatile.ts';

/** An answer as repetition is judged by it. */
export type SeenAnswer =
  | {
      readonly ok: true;
      /** What was answered: a text, or any value that is JSON. */
      readonly value: unknown;
      /** Time that the call took, in ms. @defaultValue 0 */
      readonly tookMs?: number | undefined;
    }
  | {
      readonly ok: false;
      /** Kind of the failure, or any word that stands for it. */
      readonly kind: string;
      readonly message: string;
      readonly tookMs?: number | undefined;
      /** Wait that the answer asks for by other means than its words, in ms; true where it is not known how long. @defaultValue none */
      readonly waits?: boolean | number | undefined;
    };

/** Fingerprints of an answer. */
export interface AnswerKey {
  /** Of all of it. */
  readonly exact: number;
  /** Of what does not change by itself; of a failure its kind and first line. */
  readonly alike: number;
  /** Of a failure: the same whatever arguments its line quotes; of a success 0. */
  readonly reason: number;
}

/** Characters of an answer that are read for what changes by itself; what is beyond counts as it is. */
const mostRead = 24_000;
/** Characters that are read for a line, or for words. */
const headOf = 1000;
/** Characters of an answer's words, for people. */
const mostWords = 160;

/** The key of a failure. @param last - of the last answer to the same call */
export function failureKey(
  { tool, input }: { readonly tool: string; readonly input: unknown },
  { kind, message }: SeenAnswer & { readonly ok: false },
  last: AnswerKey | undefined,
): AnswerKey {
  const said = textFingerprint(kind);
  const exact = paired(said, textFingerprint(message));
  if (last?.exact === exact) return last;
  const line = firstLine(message);
  return {
    exact,
    alike: paired(said, textFingerprint(line)),
    reason: paired(textFingerprint(tool), paired(said, textFingerprint(withoutArguments(line, input)))),
  };
}

/** Fingerprint of a success. @param text - its text, where it has one. */
export const exactKey = (value: unknown, text: string | undefined): number =>
  text === undefined ? fingerprint(value) : textFingerprint(text);

/** Fingerprint of a success without what changes by itself; the order of keys does not count in a text that is JSON. Takes up to 25 us for 1 kB. */
export function alikeKey(value: unknown, text = textOf(value)): number {
  let left = mostRead;
  const even = (part: string) => ((left -= part.length) < 0 ? part : evenText(part));
  if (text === undefined) return fingerprint(value, even);
  if (/^\s*[[{]/.test(text) && text.length <= mostRead)
    try {
      return fingerprint(JSON.parse(text), even);
    } catch {
      // A text that begins like JSON.
    }
  const head = textFingerprint(withoutVolatile(text.slice(0, mostRead)));
  return text.length > mostRead ? paired(head, textFingerprint(text.slice(mostRead))) : head;
}

/** The answer in a few words, for people. */
export function answerWords(answer: SeenAnswer): string {
  const text = answer.ok ? (textOf(answer.value) ?? '') : answer.message;
  const words = text.slice(0, headOf).replaceAll(/\s+/g, ' ').trim();
  const isPart = text.length > headOf || words.length > mostWords;
  // The last word of a part may be half a secret, which nobody would know for one. A copy: a part of a text keeps all of it.
  const whole = isPart ? words.slice(0, mostWords).replace(/[^\s"'`,;<>()[\]{}]*$/, '') : words;
  return Buffer.from(whole.trimEnd()).toString();
}

const waitWords =
  /\d ?(?!retr|attempt|tr[iy])[a-z]* (?:remaining|left|to go)\b|\b(?:eta|remaining|until|not before|ready (?:in|at)|available (?:in|at)|starts (?:in|at)|start in|scheduled for|expected (?:in|at|by)|(?<!s, )estimated|next (?:run|check|poll|attempt) (?:in|at)|back (?:in|at)|sleep(?:ing)? for|waiting for(?! (?:locator|getby|selector|element|event|navigation)))\b[^.\n]{0,40}?\d/i;

/** Time from which a call is one that waits itself, in ms. */
const slowMs = 10_000;

export const isSlow = ({ tookMs = 0 }: SeenAnswer): boolean => tookMs >= slowMs;

/** Tells whether a call waited itself, or its answer names the time of a wait: whoever asks again after it does not spin. */
export function isPatient(answer: SeenAnswer): boolean {
  if (answer.ok && isSlow(answer)) return true;
  if (!answer.ok && answer.waits !== undefined && answer.waits !== false) return true;
  const text = (answer.ok ? textOf(answer.value) : answer.message)?.slice(0, headOf) ?? '';
  if (!/\d/.test(text)) return false;
  return waitWords.test(text) || textHint(text, 0).retryAfterMs !== undefined;
}

/** The text of an answer: its own, or those of an MCP result that has nothing else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('content' in value)) return undefined;
  const { content, structuredContent } = value as { content: unknown; structuredContent?: unknown };
  if (!Array.isArray(content) || structuredContent !== undefined) return undefined;
  const [only] = content as readonly ({ type?: unknown; text?: unknown } | null)[];
  if (content.length === 1 && only?.type === 'text' && typeof only.text === 'string') return only.text;
  const texts = content.map((part: { type?: unknown; text?: unknown } | null) =>
    part?.type === 'text' && typeof part.text === 'string' ? part.text : undefined,
  );
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined;
}

/** Lines that say that it failed, or when, and not why. */
const saysNothing =
  /^(?:(?:error:? ?)?(?:(?:command |process )?(?:exited|failed|exit)(?: with)?(?: exit)?(?: code| status)?[ :]*-?\d*|error|failed|failure|<\w+>|traceback.*|output:?)?[.:]?|[\w ]*[:=]? ?~)$/i;

/** The first line that says something, without what changes by itself. */
function firstLine(message: string): string {
  for (const line of message.slice(0, headOf).split('\n', 8)) {
    const even = evenText(line.slice(0, 500));
    if (!saysNothing.test(even)) return even;
  }
  return withoutVolatile(message.slice(0, 500));
}

const delimiters = '\\s\'"`“”‘’()[\\]{}<>=,;:';
const wordOfLine = new RegExp(`[^${delimiters}]+`, 'g');
const isDelimiter = new RegExp(`[${delimiters}/\\\\]`);

/** The line with the words of the arguments taken out, as an error quotes them: whole, or as the end of a path. */
function withoutArguments(line: string, input: unknown): string {
  const texts: string[] = [];
  collect(input, texts, 0);
  return line.replaceAll(wordOfLine, (word) => {
    const end = word.replace(/[.!?]+$/, '').replace(/^.*[/\\](?=.)/, '');
    return end !== '' && texts.some((text) => hasWord(text, end) || (word !== end && hasWord(text, word))) ? '~' : word;
  });
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const after = at + word.length;
    if (
      (at === 0 || isDelimiter.test(text.charAt(at - 1))) &&
      (after === text.length || isDelimiter.test(text.charAt(after)))
    )
      return true;
  }
  return false;
}

function collect(value: unknown, texts: string[], depth: number): void {
  if (depth > 6 || texts.length > 50) return;
  if (typeof value === 'string') texts.push(value.slice(0, headOf));
  else if (typeof value === 'number') texts.push(String(value));
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) collect(each, texts, depth + 1);
}
