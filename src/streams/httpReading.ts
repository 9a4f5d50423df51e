import { choice, duration, type Given, type Tell } from '../policy/options/optionKeys.ts';
import { eventsKey } from './eventRules.ts';
import type { ServerSentEvent } from './serverSentEvents.ts';

/** Chunks that a stream is made of. */
export interface HttpChunks {
  /** Server-sent events, for an answer of `text/event-stream`; any other is a failure. */
  readonly events: ServerSentEvent;
  /** The same, with what the JSON of their data holds. The last event is left out where it is none, such as `[DONE]`. */
  readonly json: ServerSentEvent<unknown>;
  /** Lines without their ends, such as those of NDJSON. */
  readonly lines: string;
  /** Bytes as they come. */
  readonly bytes: Uint8Array;
}

/** Way in which the body of a stream is read. */
export type HttpStreamParse = keyof HttpChunks;

/** Option of them that says the kind: of any but `events`, it is there. */
export type ReadAs<S extends HttpStreamParse> = 'events' extends S
  ? { readonly parse?: S | undefined }
  : { readonly parse: S };

/** The options of {@link HttpReading}. */
export const readingKeys = {
  /** Form that the body gets. @defaultValue 'events' */
  parse: choice(['events', 'json', 'lines', 'bytes'], { given: {} as HttpStreamParse }),
  /** Meaning of its events; of `events` and `json` alone. @defaultValue those of the integration */
  events: eventsKey,
  /**
   * Longest wait for the first chunk with content, in ms above 0, while the reader waits: `idleMs` counts every byte as a sign of life, a ping, a
   * comment and an empty delta too, this one does not. A model may think for minutes before its first word.
   * @defaultValue that of the integration
   */
  firstContentMs: duration(),
  /** The same between two chunks with content. @defaultValue that of the integration */
  contentMs: duration(),
};

/** Options of a stream that say how its body is read. */
export interface HttpReading extends Given<typeof readingKeys> {}

/** Options that say how the body is read, checked. */
export interface CheckedReading extends Omit<HttpReading, 'firstContentMs' | 'contentMs'> {
  readonly firstContentMs?: number | undefined;
  readonly contentMs?: number | undefined;
}

/** Lines and bytes hold no events to judge: rules for them would be heard by nobody. */
export function readingRule({ parse, events }: Pick<CheckedReading, 'parse' | 'events'>, tell: Tell): void {
  if (events === undefined || (parse !== 'lines' && parse !== 'bytes')) return;
  tell('events', { says: `to be left out with a \`parse\` of "${parse}"` });
}
