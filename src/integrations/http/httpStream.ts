import { type CallStreamOptions, scopeRule, streamKeys } from '../../calls/callOptions.ts';
import {
  type HttpChunks,
  type HttpReading,
  type HttpStreamParse,
  type ReadAs,
  readingKeys,
  readingRule,
} from '../../streams/httpReading.ts';
import type { GivenValues } from '../../policy/optionKeys.ts';
import { readGiven } from '../../policy/readOptions.ts';
import type { HttpRequest } from './httpRequest.ts';

/** Options of one stream of an HTTP API: how it is read, and how it differs from the policy. With any kind but `events`, `parse` is there. */
export type HttpStreamOptions<S extends HttpStreamParse = 'events'> = CallStreamOptions<HttpRequest, HttpChunks[S]> &
  HttpReading &
  ReadAs<S>;

/** The options of a stream of an HTTP API. */
const httpStreamKeys = { ...streamKeys, ...readingKeys };

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function readHttpStream(
  options: HttpReading & CallStreamOptions<HttpRequest, never>,
): GivenValues<typeof httpStreamKeys> {
  return readGiven('options', options, httpStreamKeys, (values, tell) => {
    scopeRule(values, tell);
    readingRule(values, tell);
  });
}
