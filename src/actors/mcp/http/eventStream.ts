import type { HttpAnswer } from '../../../streams/readBody.ts';
import type { ServerSentEvent } from '../../../streams/serverSentEvents.ts';
import { lateModule } from '../../process/lateModule.ts';

const eventsModule = lateModule(() => import('../../../streams/serverSentEvents.ts'));

interface EventStreamHandlers {
  /** Longest data of one event, in bytes. */
  readonly maxBytes: number;
  readonly onEvent: (event: ServerSentEvent) => void;
  readonly heard?: (() => void) | undefined;
  /** A comment came: the server says that it is there. */
  readonly commented?: (() => void) | undefined;
  /** Waited for before more is read, where somebody does not keep up. */
  readonly flow: () => Promise<void> | undefined;
}

/** Tells whether a response is a stream of events. */
export function isEventStream({ headers }: Pick<HttpAnswer, 'headers'>): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}

/**
 * Reads a stream of events to its end.
 * @throws what the connection broke with, or an AttemptError when an event is too long or the stream ended within one.
 */
export async function readEventStream(
  response: HttpAnswer,
  { maxBytes, onEvent, heard, commented, flow }: EventStreamHandlers,
): Promise<void> {
  const { body } = response;
  if (body === null) return;
  const reader = body.getReader();
  try {
    // Loaded now: a gateway without remote servers parses no events.
    const { ServerSentEventParser } = await eventsModule();
    const parser = new ServerSentEventParser({ maxBytes, onEvent, onComment: commented });
    for (;;) {
      await flow();
      const { value } = await reader.read();
      if (value === undefined) break;
      heard?.();
      parser.push(value);
    }
    parser.end();
  } finally {
    // A stream that has ended has nothing to cancel.
    void reader.cancel().catch(() => undefined);
  }
}

/** A message on one line: the line ends of JSON are mere space. */
export function messageText(data: string): string {
  return /[\r\n]/.test(data) ? data.replaceAll(/[\r\n]+/g, ' ') : data;
}
