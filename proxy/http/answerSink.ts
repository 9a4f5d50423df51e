import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../../src/policy/face.ts';
import { noTrace } from '../../web/server/httpServer.ts';

interface AnswerSinkOptions {
  readonly clock: Clock;
  readonly response: ServerResponse;
  /**
   * `stream`: events from the start. `either`: one body of JSON, unless something comes before the answer or that takes its time. `soon`: the same, where it takes
   * so long that a connection may be cut meanwhile.
   */
  readonly as: 'stream' | 'either' | 'soon';
  /** Event by whose ID a client that was cut goes on, told as the stream begins. @defaultValue none */
  readonly first?: string | undefined;
  /** The session that the client is to name from here on. */
  readonly sessionId?: string | undefined;
  /** Told once: the client has left, or was let go because it does not read. Not told of an end of ours. */
  readonly left: () => void;
  /** Told when it has become a stream that was none from the start. */
  readonly begun?: (() => void) | undefined;
  /** Told when what was written was read again. */
  readonly drained?: (() => void) | undefined;
}

/** Time after which a client hears that the stream stands while there is nothing to say, in ms. */
const beatMs = 15_000;
/** After so long an answer that could be JSON becomes a stream, so that nobody waits for headers, in ms. */
const undecidedMs = { either: 5000, soon: 50 } as const;
/** After how long a client whose stream was cut is to come back, in ms. */
const retryMs = 1000;
/** Most that one client may leave unread, in bytes; then it is let go. */
const mostUnreadBytes = 16 * 1024 * 1024;
/** For how long it may leave unread what others wait behind, in ms. */
const slowMs = 30_000;

const jsonHeaders = { ...noTrace, 'Content-Type': 'application/json' } as const;
const streamHeaders = {
  ...noTrace,
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** Says where to go on from, and after how long, should the stream be cut. */
function firstText(eventId: string): string {
  return `id: ${eventId}\nretry: ${retryMs}\ndata: \n\n`;
}

function eventText(message: string, eventId: string | undefined): string {
  return `${eventId === undefined ? '' : `id: ${eventId}\n`}event: message\ndata: ${message}\n\n`;
}

/** Content of one response of HTTP: messages as events, or one as JSON. */
export class AnswerSink {
  readonly #options: AnswerSinkOptions;
  #isStream = false;
  #over = false;
  #timer: Timer | undefined = undefined;
  #slow: Timer | undefined = undefined;

  constructor(options: AnswerSinkOptions) {
    this.#options = options;
    const { response, clock, as } = options;
    response.on('close', () => this.#gone());
    response.on('error', () => this.#gone());
    response.on('drain', () => {
      this.#readAgain();
      options.drained?.();
    });
    if (as === 'stream') this.#begin();
    else this.#timer = clock.setTimeout(() => this.#begin(), undecidedMs[as]);
  }

  /** True while nothing has been said. */
  get isUndecided(): boolean {
    return !this.#isStream && !this.#over;
  }

  get isOpen(): boolean {
    return !this.#over;
  }

  /** True while more was written than the client has read. */
  get isFull(): boolean {
    return !this.#over && this.#options.response.writableNeedDrain;
  }

  /** @param message - one line of JSON. */
  send(message: string, eventId: string | undefined): void {
    if (this.#over) return;
    this.#begin();
    this.#write(eventText(message, eventId));
  }

  /** Sends the last message, and ends. */
  finish(message: string, eventId: string | undefined, status = 200): void {
    if (this.#over) return;
    if (this.#isStream) {
      this.send(message, eventId);
      this.end();
      return;
    }
    this.#stop();
    const { response, sessionId, first } = this.#options;
    // One that may be cut while it is read begins with where to go on.
    const body = first === undefined ? message : firstText(first) + eventText(message, eventId);
    response.writeHead(status, {
      ...(first === undefined ? jsonHeaders : streamHeaders),
      ...(sessionId !== undefined && { 'Mcp-Session-Id': sessionId }),
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
  }

  /** Ends; where nothing was said, as a stream without an answer: a body without a byte says nothing of what was asked. */
  end(): void {
    if (this.#over) return;
    this.#begin();
    this.#stop();
    this.#options.response.end();
  }

  cut(): void {
    if (this.#over) return;
    this.#stop();
    this.#options.response.destroy();
  }

  #begin(): void {
    if (this.#isStream || this.#over) return;
    const { response, sessionId, clock, first, as, begun } = this.#options;
    this.#isStream = true;
    response.writeHead(200, {
      ...streamHeaders,
      ...(sessionId !== undefined && { 'Mcp-Session-Id': sessionId }),
    });
    if (first === undefined) response.flushHeaders();
    else this.#write(firstText(first));
    clock.clearTimeout(this.#timer);
    this.#beat();
    if (as !== 'stream') begun?.();
  }

  #beat(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      if (!this.isFull) this.#write(': still here\n\n');
      if (!this.#over) this.#beat();
    }, beatMs);
  }

  #write(text: string): void {
    const { response, clock } = this.#options;
    const isRead = response.write(text);
    if (response.writableLength > mostUnreadBytes) this.#letGo();
    else if (!isRead) this.#slow ??= clock.setTimeout(() => this.#letGo(), slowMs, { running: true });
  }

  #readAgain(): void {
    this.#options.clock.clearTimeout(this.#slow);
    this.#slow = undefined;
  }

  #letGo(): void {
    this.cut();
    this.#options.left();
  }

  #gone(): void {
    if (this.#over) return;
    this.#stop();
    this.#options.left();
  }

  #stop(): void {
    this.#over = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#readAgain();
  }
}
