import { show } from '../../src/policy/options.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createTextRedactor } from '../../src/redaction/secrets.ts';

/** The result of a tool call that failed, as the protocol has it. */
export type ToolErrorResult = { content: { type: 'text'; text: string }[]; isError: true };

const longestText = 2000;

export function toolErrorResult(tool: string, message: string): ToolErrorResult {
  return { content: [{ type: 'text', text: `Error in ${tool}: ${message}` }], isError: true };
}

/** @throws TypeError when a result is no JSON: the SDKs could not send it, and its call would never be answered. */
export function checkSendable(result: object): void {
  try {
    JSON.stringify(result);
  } catch (error) {
    throw new TypeError(`Its result cannot be sent: ${tellable(error)}`, { cause: error });
  }
}

/** Returns what may be told to the other side of anything thrown: bounded, and without what looks like a secret or stands in one of ours. */
export function tellable(error: unknown): string {
  const words = wordsOf(error);
  let clean = createTextRedactor(new KnownSecrets(process.env)).text(words.slice(0, 2 * longestText));
  // So much was redacted that the end of what was read comes into view, where half a secret may stand.
  if (words.length > 2 * longestText && clean.length <= longestText)
    clean = clean.slice(0, clean.search(/\S{1,4000}$/));
  clean = clean.trim();
  if (clean === '') return 'It failed and did not say why';
  return clean.length > longestText ? `${clean.slice(0, longestText - 3)}...` : clean;
}

/** Reads a thrown value, which can throw itself when it is looked at. */
function wordsOf(error: unknown): string {
  try {
    if (typeof error === 'string') return error;
    const { message } = (error ?? {}) as { message?: unknown };
    return typeof message === 'string' ? message : `It threw ${show(error)}`;
  } catch {
    return '';
  }
}

/** The words of a result that says it is an error; undefined for any other. */
export function errorOf(result: object): string | undefined {
  const { isError, content } = result as { isError?: unknown; content?: unknown };
  if (isError !== true) return undefined;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) => {
    const { text } = (part ?? {}) as { text?: unknown };
    return typeof text === 'string' ? [text] : [];
  });
  return texts.join('\n').slice(0, longestText);
}
