import { createParser, type EventSourceParser } from 'eventsource-parser';
import { AttemptError } from '../policy/failures/failure.ts';

/** Event of a stream of server-sent events. */
export interface ServerSentEvent<Data = string> {
  /** Its type; undefined where the server gave none, which the standard takes for `message`. */
  readonly event?: string | undefined;
  /** Its data; several lines are joined by `\n`. */
  readonly data: Data;
  /** Its id, where the server gave one with this event. */
  readonly id?: string | undefined;
  /** Time until the server asks to be connected to again, in ms, where it said so since the event before. */
  readonly retry?: number | undefined;
}

interface ServerSentEventHandlers {
  /** Longest data of one event, in bytes of UTF-8. */
  readonly maxBytes: number;
  /** Gets every event, within the `push` that completes it. What it throws comes out of that; the parser is of no use from then on. */
  readonly onEvent: (event: ServerSentEvent) => void;
  /** Gets every comment, which servers send as a sign of life. What it throws comes out likewise. */
  readonly onComment?: ((comment: string) => void) | undefined;
}

/** The name of a field, the end of its line and the type of an event, beside its data, in characters. */
const fieldChars = 1024;

/**
 * Makes events of the bytes of a stream. A chunk may end anywhere: within a character, within the end of a line. It keeps the event that has
 * begun and nothing else.
 */
export class ServerSentEventParser {
  readonly #maxBytes: number;
  readonly #parser: EventSourceParser;
  // It takes the byte order mark away.
  readonly #decoder = new TextDecoder();
  #onEvent: ServerSentEventHandlers['onEvent'];
  #retry: number | undefined = undefined;
  #lastChar = '\n';
  #isTooLong = false;

  constructor({ maxBytes, onEvent, onComment }: ServerSentEventHandlers) {
    this.#maxBytes = maxBytes;
    this.#onEvent = onEvent;
    this.#parser = createParser({
      maxBufferSize: maxBytes + fieldChars,
      onEvent: (event) => this.#complete(event),
      onRetry: (ms) => {
        this.#retry = ms;
      },
      // Fields that are unknown are skipped, as the standard has it.
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#isTooLong = true;
      },
      onComment,
    });
  }

  /**
   * The next bytes of the stream. The events before one that is too long are given first.
   * @throws {@link AttemptError} (`permanent`, `message_too_large`) when an event is too long, and from then on.
   */
  push(chunk: Uint8Array): void {
    this.#feed(this.#decoder.decode(chunk, { stream: true }));
  }

  /**
   * The stream has ended.
   * @throws {@link AttemptError} (`transient`, `connection_lost`) when it ended in the middle of an event.
   */
  end(): void {
    this.#feed(this.#decoder.decode());
    if (this.#lastChar !== '\n' && this.#lastChar !== '\r') throw cutOff();
    // An event of its own shows what was begun before it.
    let last: ServerSentEvent | undefined;
    this.#onEvent = (event) => {
      last = event;
    };
    this.#parser.feed('data:\n\n');
    if (last?.data !== '' || last.event !== undefined || last.id !== undefined) throw cutOff();
  }

  #feed(text: string): void {
    if (this.#isTooLong) throw tooLong(this.#maxBytes);
    // CR ends a line at once. What is known of LF after it comes with the next chunk, perhaps much later.
    const isSecondHalf = this.#lastChar === '\r' && text.startsWith('\n');
    if (text !== '') this.#lastChar = text.at(-1) ?? '';
    const fed = isSecondHalf ? text.slice(1) : text;
    if (fed !== '') this.#parser.feed(fed.endsWith('\r') ? `${fed}\n` : fed);
    if (this.#isTooLong) throw tooLong(this.#maxBytes);
  }

  #complete({ event, data, id }: ServerSentEvent): void {
    if (this.#isTooLong) return;
    // A character has at most three bytes.
    if (data.length * 3 > this.#maxBytes && Buffer.byteLength(data) > this.#maxBytes) {
      this.#isTooLong = true;
      return;
    }
    const retry = this.#retry;
    this.#retry = undefined;
    this.#onEvent(retry === undefined ? { event, data, id } : { event, data, id, retry });
  }
}

function tooLong(maxBytes: number): AttemptError {
  const message = `An event of the stream is longer than ${maxBytes} bytes`;
  return new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown' });
}

function cutOff(): AttemptError {
  const message = 'The stream ended in the middle of an event';
  return new AttemptError({ kind: 'transient', reason: 'connection_lost', message, outcome: 'unknown' });
}
