import { type CallStreamOptions, streamKeys } from '../../calls/callOptions.ts';
import {
  type HttpChunks,
  type HttpReading,
  type HttpStreamParse,
  type ReadAs,
  readingKeys,
} from '../../streams/httpReading.ts';
import type { HttpRequest } from './httpRequest.ts';

/** How one stream of an HTTP API is read, and how it differs from the policy. Of any kind but `events`, `parse` is there. */
export type HttpStreamOptions<S extends HttpStreamParse = 'events'> = CallStreamOptions<HttpRequest, HttpChunks[S]> &
  HttpReading &
  ReadAs<S>;

/** The options of a stream of an HTTP API. */
export const httpStreamKeys = { ...streamKeys, ...readingKeys };
