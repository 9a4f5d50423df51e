import type { AttemptContext } from '../../calls/operation.ts';
import { AttemptError } from '../../policy/failure.ts';
import type { HttpAnswer, HttpBodies, HttpParse } from './httpOptions.ts';
import { dropBody, readBody } from '../../streams/readBody.ts';

/** Options for reading the answers of one integration. */
export interface AnswerOptions {
  readonly parse: HttpParse;
  readonly maxBodyBytes: number;
}

/**
 * Reads an answer to its end; each chunk is a sign of life.
 * @param method - of the request; the answer to a `HEAD` has no body.
 * @throws {@link AttemptError} when the body is too long or no JSON; what its connection broke with.
 */
export async function readAnswer(
  response: Response,
  method: string,
  { parse, maxBodyBytes }: AnswerOptions,
  { signal, touch }: Pick<AttemptContext, 'signal' | 'touch'>,
): Promise<HttpAnswer<HttpParse>> {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  if (parse === 'response') return { status, headers, body: response };
  const isEncoded = response.headers.has('content-encoding');
  if (!isEncoded && method !== 'HEAD' && Number(response.headers.get('content-length')) > maxBodyBytes) {
    dropBody(response);
    throw tooLong(status, maxBodyBytes);
  }
  const { bytes, end, error } = await readBody(response, { maxBytes: maxBodyBytes, signal, heard: touch });
  if (end === 'stopped') throw signal.reason;
  if (end === 'broken') throw error;
  if (end === 'full') throw tooLong(status, maxBodyBytes);
  return { status, headers, body: bodyOf(response, method, parse, bytes) };
}

function bodyOf(
  { status, headers }: Response,
  method: string,
  parse: Exclude<HttpParse, 'response'>,
  bytes: Uint8Array<ArrayBuffer>,
): HttpBodies[HttpParse] {
  if (parse === 'bytes') return bytes;
  const text = new TextDecoder().decode(bytes);
  if (parse === 'text') return text;
  const hasNone = method === 'HEAD' || [204, 205, 304].includes(status) || headers.get('content-length') === '0';
  if (text === '' && hasNone) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Errors of JSON.parse quote the body, which is not ours to show.
    const type = headers.get('content-type')?.slice(0, 100) ?? 'no content-type';
    const message = `HTTP ${status}: expected JSON, got ${bytes.byteLength} bytes that are none (${type})`;
    throw new AttemptError({ kind: 'protocol', message, outcome: 'unknown', status });
  }
}

/** It was carried out; what came of it is not known. */
function tooLong(status: number, maxBodyBytes: number): AttemptError {
  const message = `HTTP ${status}: the body is longer than ${maxBodyBytes} bytes`;
  return new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown', status });
}
