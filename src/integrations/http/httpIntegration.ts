import { type CallStreamOptions, scopeRule, streamKeys } from '../../calls/callOptions.ts';
import type { CallPath } from '../../calls/callPath.ts';
import { CallableIntegration, type Integration } from '../../calls/integration.ts';
import type { Operation } from '../../calls/operation.ts';
import type { Effect } from '../../policy/effects.ts';
import type { Reconciler } from '../../policy/reconciler.ts';
import type { CallStream } from '../../streams/callStream.ts';
import type { HttpAnswer, HttpParse } from './httpOptions.ts';
import { effectOfRequest, type HttpRequest } from './httpRequest.ts';
import {
  type CheckedReading,
  type HttpChunks,
  type HttpReading,
  type HttpStreamParse,
  type ReadAs,
  readingKeys,
  readingRule,
} from '../../streams/httpReading.ts';
import type { GivenValues } from '../../policy/options/optionKeys.ts';
import { readGiven } from '../../policy/options/readOptions.ts';

/** An HTTP API that can be called, and whose answers can be read as they come. */
export interface HttpIntegration<P extends HttpParse = 'json'>
  extends Omit<Integration<HttpRequest, HttpAnswer<P>>, 'stream'> {
  /**
   * Sends a request and gives its answer as it comes: server-sent events, their JSON, lines, or bytes. It is supervised to its end. An answer of 400
   * and above is a failure; so is one that is cut, also within an event. It is sent again only before its first chunk was taken, or to go on
   * by `resume`.
   * @throws TypeError or RangeError at once when an option is wrong.
   *
   * @example
   * const { chunks, outcome } = llm.stream({ method: 'POST', path: '/messages', body: { ...prompt, stream: true } });
   * for await (const event of chunks) client.write(eventText(event));
   */
  stream<S extends Exclude<HttpStreamParse, 'events'>>(
    request: HttpRequest,
    options: HttpStreamOptions<S>,
  ): CallStream<HttpChunks[S]>;
  // The last one is what a session takes its streams for.
  stream(request: HttpRequest, options?: HttpStreamOptions): CallStream<HttpChunks['events']>;
}

/** Answers with a stream that is read in one way. */
export type StreamedBy = (
  reading: CheckedReading,
) => Operation<HttpRequest, AsyncIterable<HttpChunks[HttpStreamParse]>>;

/** An HTTP API over its call path. */
export class CallableHttp<P extends HttpParse>
  extends CallableIntegration<HttpRequest, HttpAnswer<P>, never>
  implements HttpIntegration<P>
{
  readonly #streamedBy: StreamedBy;

  /** @param effect - of calls whose method does not say. @param reconciler - what settles their lost answers. */
  constructor(
    path: CallPath<HttpRequest, HttpAnswer<P>>,
    effect: Effect | undefined,
    streamedBy: StreamedBy,
    reconciler?: Reconciler,
  ) {
    const rule = reconciler && { reconciler };
    super(path, effect, (request) => {
      const said = effectOfRequest(request);
      return said === undefined ? rule : { ...rule, effect: said };
    });
    this.#streamedBy = streamedBy;
  }

  override stream(
    request: HttpRequest,
    options: HttpReading & CallStreamOptions<HttpRequest, never> = {},
  ): CallStream<never> {
    const { parse, events, firstContentMs, contentMs, ...calling } = readHttpStream(options);
    const streamed = this.#streamedBy({ parse, events, firstContentMs, contentMs }) as Operation<
      HttpRequest,
      AsyncIterable<never>
    >;
    return this.streamBy(streamed, request, { ...calling, resume: options.resume });
  }
}

/** Options of one stream of an HTTP API: how it is read, and how it differs from the policy. With any kind but `events`, `parse` is there. */
export type HttpStreamOptions<S extends HttpStreamParse = 'events'> = CallStreamOptions<HttpRequest, HttpChunks[S]> &
  HttpReading &
  ReadAs<S>;

/** The options of a stream of an HTTP API. */
const httpStreamKeys = { ...streamKeys, ...readingKeys };

/** @throws TypeError or RangeError that names the first wrong option and its value. */
function readHttpStream(
  options: HttpReading & CallStreamOptions<HttpRequest, never>,
): GivenValues<typeof httpStreamKeys> {
  return readGiven('options', options, httpStreamKeys, (values, tell) => {
    scopeRule(values, tell);
    readingRule(values, tell);
  });
}
