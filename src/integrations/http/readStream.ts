import { costsSaidBy } from '../../calls/rates/integrationRates.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { RepeatedText, repeatsItself } from '../../policy/spinning/repeatedText.ts';
import type { Costs } from '../../policy/rateLimit.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import type { FactRedactor } from '../../redaction/redactFact.ts';
import { redactorOf } from '../../redaction/requestSecrets.ts';
import { type ChunkSource, openChunkSource } from '../../streams/chunkSource.ts';
import { DecodedStream, type Decoder, type Give } from '../../streams/decodedStream.ts';
import { type EventRules, modelEvents } from '../../streams/eventRules.ts';
import { eventText } from '../../streams/eventText.ts';
import type { CheckedReading, HttpChunks, HttpStreamParse } from '../../streams/httpReading.ts';
import { wordsIn } from '../../streams/modelContent.ts';
import { type ServerSentEvent, ServerSentEventParser } from '../../streams/serverSentEvents.ts';
import { errorLineOf, type FailureLimits, failureOf, usualFailureLimits } from './fetchFailure.ts';
import type { CheckedHttp } from './httpOptions.ts';
import type { PreparedRequest } from './httpRequest.ts';

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
  {
    options,
    clock,
    repeats,
  }: Pick<EventDecoderOptions, 'repeats'> & { readonly options: CheckedHttp; readonly clock: Clock },
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
    const watched = { watchesContent: contentMs !== undefined, repeats, repeatedText: options.repeatedText };
    return new EventDecoder(give, { rules, maxBytes, isJson, redact, spent, ...watched });
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

/** Options for reading the events of one stream. */
interface EventDecoderOptions {
  readonly rules: EventRules;
  /** Longest data of one event, in bytes. */
  readonly maxBytes: number;
  /** True where the data of each event is what its JSON holds. */
  readonly isJson: boolean;
  /** Takes out of a failure what the server repeats of the request. */
  readonly redact: FactRedactor;
  /** Told what the stream costs, as its events tell. */
  readonly spent: (costs: Costs) => void;
  /** True where it matters which events have content once one had. */
  readonly watchesContent: boolean;
  readonly repeatedText: CheckedHttp['repeatedText'];
  /** Told the length of a passage that the text is over and over. */
  readonly repeats: (characters: number) => void;
}

/** Data is text, or what its JSON holds. */
type GiveEvent = Give<ServerSentEvent | ServerSentEvent<unknown>>;

/** Makes events of the bytes of a stream, and tells by its rules how that ended. */
class EventDecoder implements Decoder {
  /** True once the last event was given. */
  isComplete = false;
  readonly #parser: ServerSentEventParser;
  readonly #give: GiveEvent;
  readonly #options: EventDecoderOptions;
  #rules!: EventRules;
  #skipped!: ReadonlySet<string | undefined>;
  #isLast!: (event: ServerSentEvent) => boolean;
  #costs: Costs = {};
  #isFirst = true;
  #hadContent = false;
  #text: RepeatedText | undefined = new RepeatedText();

  constructor(give: GiveEvent, options: EventDecoderOptions) {
    this.#give = give;
    this.#options = options;
    this.#follow(options.rules);
    this.#parser = new ServerSentEventParser({
      maxBytes: options.maxBytes,
      onEvent: (event) => this.#read(event),
    });
  }

  push(chunk: Uint8Array): void {
    this.#parser.push(chunk);
  }

  end(): void {
    this.#parser.end();
    const { endsWith } = this.#rules;
    if (endsWith === undefined || this.isComplete) return;
    const names = typeof endsWith === 'function' ? '' : ` (${endsWith.join(', ')})`;
    const message = `The stream ended without its last event${names}`;
    throw new AttemptError({ kind: 'transient', reason: 'connection_lost', message, outcome: 'unknown' });
  }

  #follow(rules: EventRules): void {
    this.#rules = rules;
    this.#skipped = new Set(rules.signsOfLife);
    this.#isLast = lastEvent(rules.endsWith);
  }

  #read(event: ServerSentEvent): void {
    // Anything after the last event in its chunk is no part of the stream.
    if (this.isComplete) return;
    const known = this.#rules.recognise?.(event);
    if (known !== undefined) this.#follow(known);
    // An answer that fails has its price too.
    if (this.#rules.spent !== undefined) this.#count(event, this.#rules.spent);
    if (this.#skipped.has(event.event)) return;
    const { isJson, redact } = this.#options;
    const failed = this.#rules.failedEvent?.(event, this.#isFirst);
    if (failed instanceof AttemptError) throw new AttemptError(redact(failed.facts));
    if (failed instanceof Error) throw redact({ failed }).failed;
    if (failed !== undefined) throw new AttemptError(redact(failed));
    this.#isFirst = false;
    this.#lookForRepetition(event);
    this.isComplete = this.#isLast(event);
    const isContent = this.#isContent(event);
    if (!isJson) this.#give(event, isContent);
    else this.#giveJson(event, isContent);
  }

  /** Looks into the text of a model alone. @throws AttemptError (`spinning`) where it ends there */
  #lookForRepetition({ event, data }: ServerSentEvent): void {
    const { repeatedText, repeats } = this.#options;
    if (
      repeatedText === 'off' ||
      this.#rules.isContent !== modelEvents.isContent ||
      this.#rules.recognise !== undefined
    )
      return;
    const characters = this.#text?.push(wordsIn(event, data));
    if (characters === undefined) return;
    this.#text = undefined;
    repeats(characters);
    if (repeatedText === 'end') throw new AttemptError(repeatsItself(characters));
  }

  #isContent(event: ServerSentEvent): boolean {
    if (this.#hadContent && !this.#options.watchesContent) return true;
    let isContent = true;
    try {
      isContent = this.#rules.isContent?.(event) !== false;
    } catch {
      // A rule that fails ends no stream as a silent one.
    }
    this.#hadContent ||= isContent;
    return isContent;
  }

  #count(event: ServerSentEvent, spent: NonNullable<EventRules['spent']>): void {
    const costs = costsSaidBy(() => spent(event, this.#costs));
    if (Object.keys(costs).length === 0) return;
    this.#costs = { ...this.#costs, ...costs };
    this.#options.spent(this.#costs);
  }

  #giveJson(event: ServerSentEvent, isContent: boolean): void {
    let data: unknown;
    try {
      data = JSON.parse(event.data);
    } catch {
      // A mark like `[DONE]` says nothing but that it is over.
      if (this.isComplete) return;
      // Errors of JSON.parse quote the data, which is not ours to show.
      const message = `Expected the data of each event to be JSON, got ${event.data.length} characters that are none`;
      throw new AttemptError({ kind: 'protocol', message, outcome: 'unknown' });
    }
    this.#give({ ...event, data }, isContent);
  }
}

function lastEvent(endsWith: EventRules['endsWith']): (event: ServerSentEvent) => boolean {
  if (typeof endsWith === 'function') return endsWith;
  const names = new Set<string | undefined>(endsWith);
  return ({ event, data }) => names.has(event) || names.has(data);
}
