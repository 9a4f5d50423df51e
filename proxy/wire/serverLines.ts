import { Readable, Writable } from 'node:stream';
import type { SpinningWatch } from '../../src/policy/spinning/face.ts';
import { createByteLines } from '../../src/protocol/face.ts';
import { type McpMessage, messagesOf, readMessage } from '../../src/protocol/mcp/face.ts';

/** The two ends of a client: what it writes, and what it reads. */
export interface ClientStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** True where several clients write the input, whom nobody tells apart. @defaultValue false */
  readonly isShared?: boolean | undefined;
  /** Repetition in all calls of a client that has several servers, its names of the tools of this one, and the owner of its large results. @defaultValue it has no other */
  readonly client?: { watch: SpinningWatch; nameOf: (tool: string) => string; owner: string } | undefined;
  /** Told when a start of the server has failed before it answered the handshake; it may be tried again. Never throws. */
  readonly startFailed?: (() => void) | undefined;
}

/** Starts what serves a client. @returns resolves when it has ended, and all it started; never rejects. */
export type OpenServer = (streams: ClientStreams) => Promise<void>;

/** Listener to the messages of a server. */
export interface Listener {
  /** Receives one message, without the end of its line. None of this may throw. */
  heard(message: Exclude<McpMessage, { readonly kind: 'batch' }>, text: string): void;
  over(): void;
  /** A start of the server has failed before it answered the handshake. */
  startFailed?(): void;
  /** Resolves when more may be said; undefined when it may be at once. */
  room?(): Promise<void> | undefined;
}

/** Longest line taken from the proxy, in bytes; it lets none pass that is longer. */
const maxLineBytes = 65 * 1024 * 1024;

/** Most that waits for the end of a turn, in characters: a server that does not read is known as such with the first line that it does not take. */
const mostGathered = 64 * 1024;

/** A server on stdio as a client over HTTP needs it: messages in and out, one by one, no more of them than are taken. */
export class ServerLines {
  /** Resolves when the server and all it started have ended. */
  readonly closed: Promise<void>;
  readonly #input: Readable;
  #isOver = false;
  #wanted: (() => void)[] = [];
  /** Lines of this turn of the event loop. */
  #lines = '';
  #isFull = false;

  constructor(open: OpenServer, listener: Listener, isShared = false) {
    const lines = createByteLines({
      maxBytes: maxLineBytes,
      onLine: (line) => hear(listener, line.toString('utf8')),
      onTooLong: () => undefined,
    });
    this.#input = new Readable({ read: () => this.#wakeAll() });
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(chunk);
        const room = listener.room?.();
        if (room === undefined) done();
        else void room.then(() => done());
      },
    });
    const startFailed = (): void => listener.startFailed?.();
    this.closed = open({ input: this.#input, output, isShared, startFailed }).then(() => {
      this.#isOver = true;
      this.#wakeAll();
      output.destroy();
      this.#input.destroy();
      listener.over();
    });
  }

  /** Passes on one message, on one line without its end. Resolves when there is room for the next; never rejects. */
  send(line: string): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    if (this.#lines === '') setImmediate(() => this.#pass());
    this.#lines += `${line}\n`;
    if (this.#lines.length > mostGathered) this.#pass();
    return this.#isFull ? new Promise((resolve) => this.#wanted.push(resolve)) : undefined;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wakeAll();
    this.#pass();
    this.#input.push(null);
  }

  #pass(): void {
    if (this.#lines === '') return;
    const lines = Buffer.from(this.#lines);
    this.#lines = '';
    if (!this.#input.destroyed) this.#isFull = !this.#input.push(lines);
  }

  #wakeAll(): void {
    this.#isFull = false;
    for (const wake of this.#wanted.splice(0)) wake();
  }
}

/** Tells of each message of a line. In an event stream a line ends at a carriage return too, which in JSON is but a space between two words. */
function hear(listener: Listener, line: string): void {
  const text = line.replaceAll(/[\r\n]+/g, ' ').trimEnd();
  for (const { item, own } of messagesOf(readMessage(text), text)) if (item.kind !== 'batch') listener.heard(item, own);
}
