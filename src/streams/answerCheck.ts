import { subscribe } from 'node:diagnostics_channel';
import { EncodedBody } from './encodedBody.ts';
import { type KeptConnection, KeptConnections } from './keptConnections.ts';
import { resetError, wasReset } from './wasReset.ts';

/** Parts of a connection that tell of its end. */
interface Connection extends KeptConnection {
  /** The error that it broke with. */
  readonly errored: Error | null;
  /** The other side has ended it, and all of it was read. */
  readonly readableEnded: boolean;
}

/** The request that is being written: undici tells its connection within the same turn. */
let starting: AnswerCheck | undefined;
let isListening = false;

/**
 * Follows one request of `fetch`, and says at the end of its answer whether that is whole. undici takes some halves for whole: a chunked body whose connection was
 * closed before the last chunk (Node 20, 24), a body without a length whose connection was reset, a compressed body that was cut (all of them).
 */
export class AnswerCheck {
  #connection: Connection | undefined = undefined;
  /** From here on its connection may be another's. */
  #isOver = false;
  #isChunked = false;
  #encoded: EncodedBody | undefined = undefined;
  readonly #kept: KeptConnections;

  /** @param kept - those of whose request it is. */
  constructor(kept: KeptConnections) {
    this.#kept = kept;
  }

  begin(): void {
    awaitConnection(this);
  }

  /** Takes the connection that it is written to. */
  sentOver(connection: Connection): void {
    // A dispatcher of the host may send it again.
    if (this.#connection !== undefined) this.#kept.freed(this.#connection);
    this.#connection = connection;
    KeptConnections.used(connection, this.#kept);
  }

  /** The head of an answer has come. @param headers - names and values in turn. */
  answered(headers: readonly (Uint8Array | string)[]): void {
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = String(headers[at]).toLowerCase();
      if (name === 'transfer-encoding') this.#isChunked = /\bchunked\s*$/i.test(String(headers[at + 1]));
      else if (name === 'content-encoding') this.#encoded = EncodedBody.of(String(headers[at + 1]));
    }
  }

  push(chunk: Uint8Array): void {
    this.#encoded?.push(chunk);
  }

  /** The body has ended, as undici has it. @returns the error that its end is, or undefined for a whole one; at once, where nothing is unpacked. */
  end(): Error | undefined | Promise<Error | undefined> {
    this.#isOver = true;
    const broken = this.#broken();
    if (this.#encoded === undefined || broken !== undefined) {
      this.drop();
      return broken;
    }
    if (this.#connection !== undefined) this.#kept.freed(this.#connection);
    return this.#encoded.end().then((error) => (error?.code === 'Z_BUF_ERROR' ? cutOff() : error));
  }

  /**
   * Its sender aborts it. Its connection is ended here, before undici does that in its own way: it takes the request for one to be sent again then, and makes a
   * connection for it that nobody uses.
   */
  giveUp(): void {
    if (this.#isOver || this.#connection === undefined || this.#connection.alpnProtocol === 'h2') return;
    this.#connection.destroy(new Error('The request was given up'));
  }

  /** Nobody asks for its end any more. */
  drop(): void {
    this.#isOver = true;
    // It was given up before it was written: the next one to be told of is another's.
    if (starting === this) starting = undefined;
    this.#encoded?.drop();
    if (this.#connection !== undefined) this.#kept.freed(this.#connection);
  }

  #broken(): Error | undefined {
    // A dispatcher of somebody else's has none.
    if (this.#connection === undefined) return undefined;
    const { errored, destroyed, readableEnded } = this.#connection;
    if (errored !== null) return errored;
    if (!readableEnded) return destroyed ? cutOff() : undefined;
    // The last chunk comes before the end of its connection; a body without a length ends with it.
    if (this.#isChunked) return cutOff();
    return wasReset(this.#connection) ? resetError() : undefined;
  }
}

function awaitConnection(check: AnswerCheck): void {
  if (!isListening) {
    isListening = true;
    subscribe('undici:client:sendHeaders', told);
  }
  starting = check;
  queueMicrotask(() => {
    if (starting === check) starting = undefined;
  });
}

function told(message: unknown): void {
  const { socket } = message as { readonly socket?: Connection | null };
  // Any undici of the process may tell; what is thrown here would end it.
  if (typeof socket !== 'object' || socket === null) return;
  if (starting === undefined) KeptConnections.used(socket, undefined);
  else starting.sentOver(socket);
  starting = undefined;
}

/** The error of an answer that is none as a whole. */
export function cutOff(): Error {
  return Object.assign(new Error('The connection was closed before all of the answer was there'), {
    code: 'ERR_STREAM_PREMATURE_CLOSE',
  });
}
