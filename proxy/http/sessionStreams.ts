import type { AnswerSink } from './answerSink.ts';
import type { Clock } from '../../src/policy/face.ts';

/** A stream of a session: that of a POST, which ends with the answers to its requests, or the standing one. It outlives the connections it comes by. */
export class SessionStream {
  /** Requests without an answer, by the keys of their ids. */
  readonly pending = new Set<string>();
  readonly number: number;
  readonly #replay: ReplayBuffer;
  /** The newest is written to. */
  #sinks: AnswerSink[] = [];
  #last = 0;
  /** The last event that was written to a connection. */
  #written = 0;
  #isPrimed = false;

  constructor(number: number, replay: ReplayBuffer) {
    this.number = number;
    this.#replay = replay;
  }

  get isOpen(): boolean {
    return this.#sinks.length > 0;
  }

  /** True once it has said anything, under whose ID it can be resumed. */
  get hasSpoken(): boolean {
    return this.#last > 0;
  }

  get isFull(): boolean {
    return this.#sinks.some(({ isFull }) => isFull);
  }

  /** Sends a message, or keeps it for who resumes the stream. @returns whether anything is kept of it. */
  send(message: string, isLast = false): boolean {
    const sink = this.#sinks.at(-1);
    this.#last++;
    // Nobody has an ID to resume by.
    const isWhole = isLast && this.#last === 1 && sink?.isUndecided === true && !this.#isPrimed;
    if (!isWhole) this.#replay.keep(this.number, this.#last, message);
    if (sink === undefined) return true;
    this.#written = this.#last;
    const eventId = this.#eventId(this.#last);
    if (isLast) {
      sink.finish(message, eventId);
      this.end();
    } else sink.send(message, eventId);
    return !isWhole;
  }

  /** ID of the event that came last. */
  get lastId(): string {
    return this.#eventId(this.#last);
  }

  /** Goes on over this connection. @param isPrimed - whether the client is told where to go on from before anything has happened. */
  attach(sink: AnswerSink, isPrimed: boolean): void {
    this.#sinks.push(sink);
    const oldest = this.#sinks.length > mostConnections ? this.#sinks.shift() : undefined;
    oldest?.end();
    this.#isPrimed = isPrimed;
  }

  detach(sink: AnswerSink): void {
    this.#sinks = this.#sinks.filter((each) => each !== sink);
  }

  /** Sends what came while there was no connection, as far as it is kept. */
  sendUnwritten(): void {
    this.sendAfter(this.#written);
  }

  /** Tells whether all that came after an event is still kept. */
  canResume(after: number): boolean {
    return after <= this.#last && this.#replay.after(this.number, after).length === this.#last - after;
  }

  /** Sends what came after an event, as far as it is kept. */
  sendAfter(after: number): void {
    const sink = this.#sinks.at(-1);
    if (sink === undefined) return;
    for (const { message, number } of this.#replay.after(this.number, after)) sink.send(message, this.#eventId(number));
    this.#written = this.#last;
  }

  end(): void {
    for (const sink of this.#sinks.splice(0)) sink.end();
  }

  #eventId(number: number): string {
    return `${this.number}-${number}`;
  }
}

/** A client that reconnects may leave its old connection open, and some open one for each call that was cut. */
const mostConnections = 8;

/** The stream and the event that a `Last-Event-ID` names; undefined when it is none of ours. */
export function readEventId(text: string): { readonly stream: number; readonly event: number } | undefined {
  const [, stream, event] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return stream === undefined || event === undefined ? undefined : { stream: Number(stream), event: Number(event) };
}

/** Bounds on what is kept for clients whose stream was cut: of one session so many events, so many characters, for so long (in ms). */
const mostEvents = 1000;
const mostCharacters = 4 * 1024 * 1024;
const keptMs = 5 * 60_000;

interface KeptEvent {
  readonly stream: number;
  readonly number: number;
  readonly message: string;
  readonly at: number;
}

/** The last events of one session, in order; the oldest leave first. */
export class ReplayBuffer {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #emptied: (stream: number) => void;
  readonly #counts = new Map<number, number>();
  #events: KeptEvent[] = [];
  #characters = 0;

  /** @param emptied - told when nothing is kept of a stream any more. */
  constructor(clock: Pick<Clock, 'now'>, emptied: (stream: number) => void) {
    this.#clock = clock;
    this.#emptied = emptied;
  }

  keep(stream: number, number: number, message: string): void {
    this.#events.push({ stream, number, message, at: this.#clock.now() });
    this.#counts.set(stream, (this.#counts.get(stream) ?? 0) + 1);
    this.#characters += message.length;
    this.#forget();
  }

  after(stream: number, number: number): readonly KeptEvent[] {
    this.#forget();
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  #forget(): void {
    const oldest = this.#clock.now() - keptMs;
    let gone = 0;
    for (const { at, message } of this.#events) {
      if (at > oldest && this.#events.length - gone <= mostEvents && this.#characters <= mostCharacters) break;
      this.#characters -= message.length;
      gone++;
    }
    if (gone > 0) for (const { stream } of this.#events.splice(0, gone)) this.#leave(stream);
  }

  #leave(stream: number): void {
    const left = (this.#counts.get(stream) ?? 1) - 1;
    if (left > 0) {
      this.#counts.set(stream, left);
      return;
    }
    this.#counts.delete(stream);
    this.#emptied(stream);
  }
}
