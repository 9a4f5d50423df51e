import type { AttemptContext } from '../../calls/operation.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failure.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import type { FactRedactor } from '../../redaction/redactFact.ts';
import { type ChunkSource, openChunkSource } from '../../streams/chunkSource.ts';
import { DecodedStream, type Decoder, type Give } from '../../streams/decodedStream.ts';
import { EventDecoder } from './eventDecoder.ts';
import { errorLineOf, type FailureLimits, failureOf, usualFailureLimits } from './fetchFailure.ts';
import { eventText } from '../../streams/eventText.ts';
import { modelEvents } from '../../streams/eventRules.ts';
import type { CheckedHttp } from './httpOptions.ts';
import type { PreparedRequest } from './httpRequest.ts';
import type { CheckedReading, HttpChunks, HttpStreamParse } from '../../streams/httpReading.ts';
import { redactorOf } from '../../redaction/requestSecrets.ts';

/** Content type that is asked for where the request does not say. */
const eventStream = 'text/event-stream';

/** A request for a stream says so, as the standard has it for events. */
export function asksForStream({ headers }: PreparedRequest, { parse = 'events' }: CheckedReading): void {
  if ((parse === 'events' || parse === 'json') && !headers.has('accept')) headers.set('accept', eventStream);
}

/**
 * The chunks of an answer, as they come.
 * @throws {@link AttemptError} (`protocol`) for an answer that is no stream of events where events are asked for.
 */
export async function readStream(
  response: Response,
  { url, headers, body }: PreparedRequest,
  { parse = 'events', events, ...limits }: CheckedReading,
  { options, clock }: { readonly options: CheckedHttp; readonly clock: Clock },
  { signal, touch, spent }: Pick<AttemptContext, 'signal' | 'touch' | 'spent'>,
): Promise<AsyncIterable<HttpChunks[HttpStreamParse]>> {
  const { maxBodyBytes: maxBytes } = options;
  const isJson = parse === 'json';
  // The redactor is made for a failure alone, of which a stream has one at most.
  const redact: FactRedactor = (fact) => redactorOf(url.href, headers, body)(fact);
  if ((isJson || parse === 'events') && !isEventStream(response)) {
    throw await noEvents(response, { ...usualFailureLimits, signal, clock, redact });
  }
  const source = openChunkSource<Uint8Array>(response) as ChunkSource<Uint8Array>;
  const { firstContentMs = options.firstContentMs, contentMs = options.contentMs } = limits;
  const decoder = (give: Give<HttpChunks[HttpStreamParse]>): Decoder => {
    if (parse === 'bytes') return { push: give, end: () => undefined };
    if (parse === 'lines') return lineDecoder((line) => give(line, line.trim() !== ''), maxBytes);
    const rules = events ?? options.events ?? modelEvents;
    return new EventDecoder(give, { rules, maxBytes, isJson, redact, spent, watchesContent: contentMs !== undefined });
  };
  const written = writers[parse] as ((chunk: HttpChunks[HttpStreamParse]) => string) | undefined;
  return new DecodedStream(source, decoder, {
    clock,
    heard: touch,
    firstContentMs,
    contentMs,
    ...(written !== undefined && { written }),
  });
}

const typeOf = ({ headers }: Response): string | undefined => headers.get('content-type')?.slice(0, 100).trim();

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(typeOf(response) ?? '');
}

/** Shows of its body only the error that it tells of: an answer is not ours to show. */
async function noEvents(response: Response, limits: FailureLimits): Promise<AttemptError> {
  const { status } = response;
  const { body } = await failureOf(response, limits);
  const said = typeof body === 'string' ? '' : errorLineOf(body);
  const message = `HTTP ${status}: expected ${eventStream}, got ${typeOf(response) ?? 'no content-type'}`;
  const facts = { kind: 'protocol', outcome: 'unknown', status } as const;
  return new AttemptError({ ...facts, message: said === '' ? message : `${message}: ${said}` });
}

/** Writers of chunks, where the stream is handed on as bytes. */
const writers: { readonly [S in HttpStreamParse]?: (chunk: HttpChunks[S]) => string } = {
  events: eventText,
  json: eventText,
  lines: (line: string) => `${line}\n`,
};

/** A last line without its end is one. */
function lineDecoder(give: (line: string) => void, maxBytes: number): Decoder {
  const lines = createLineSplitter({
    maxBytes,
    onLine: give,
    onTooLong() {
      const message = `A line of the stream is longer than ${maxBytes} bytes`;
      throw new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown' });
    },
  });
  return {
    push: ({ buffer, byteOffset, byteLength }) => lines.push(Buffer.from(buffer, byteOffset, byteLength)),
    end: () => lines.end(),
  };
}
