import type { ServerEnd, ServerLink, ServerLinkListener, ServerTarget } from '../../src/actors/mcp/serverLink.ts';
import type { Clock } from '../../src/policy/clock.ts';

/** A server in this process: it hears what a proxy writes, and says what it is told to. */
export interface Peer extends ServerTarget {
  /** Has it write these bytes to its stdout. */
  say(bytes: Uint8Array | string): void;
}

/** @param heard - told of each line that the proxy writes, as JSON. */
export function createPeer(heard: (message: Message, peer: Peer) => void): Peer {
  let link: PeerLink | undefined;
  const peer: Peer = {
    ...{
      command: 'peer',
      secrets: {},
      handshakeMs: 60_000,
      pingMs: 5000,
      maxMessageBytes: 64 * 1024 * 1024,
      mayGoOn: false,
    },
    say: (bytes) => link?.say(bytes),
    open: (clock, listener) => (link = new PeerLink(clock, listener, (message) => heard(message, peer))),
  };
  return peer;
}

/** A message as either side reads it. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The messages of a text, those of its batches one by one; what is no JSON is left out. */
export function messagesIn(text: string): Message[] {
  return text.split('\n').flatMap((line): Message[] => {
    try {
      const value: unknown = JSON.parse(line);
      const all: unknown[] = Array.isArray(value) ? value : [value];
      return all.filter((each): each is Message => typeof each === 'object' && each !== null && !Array.isArray(each));
    } catch {
      return [];
    }
  });
}

/** The id of a request, as a key; undefined for what is none. */
export function requestKey({ id, method }: Message): string | undefined {
  return typeof method === 'string' ? keyOf(id) : undefined;
}

/** The id of an answer, as a key; undefined for what is none. */
export function answerKey(message: Message): string | undefined {
  const isAnswer = message.method === undefined && ('result' in message || 'error' in message);
  return isAnswer ? keyOf(message.id) : undefined;
}

export const keyOf = (id: unknown): string | undefined =>
  typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? JSON.stringify(id) : undefined;

class PeerLink implements ServerLink {
  readonly pid = undefined;
  readonly isFull = false;
  readonly exit = {};
  end: ServerEnd | undefined = undefined;
  exited: Promise<void>;
  readonly #listener: ServerLinkListener;
  readonly #heard: (message: Message) => void;
  readonly #clock: Clock;
  #gone = (): void => undefined;

  constructor(clock: Clock, listener: ServerLinkListener, heard: (message: Message) => void) {
    this.#clock = clock;
    this.#listener = listener;
    this.#heard = heard;
    this.exited = new Promise((resolve) => (this.#gone = resolve));
  }

  async start(): Promise<void> {
    await Promise.resolve();
    this.#listener.started(undefined);
  }

  say(bytes: Uint8Array | string): void {
    if (this.end === undefined) this.#listener.output(Buffer.from(bytes));
  }

  write(data: string | Uint8Array): boolean {
    if (this.end !== undefined) return false;
    for (const message of messagesIn(Buffer.from(data).toString('utf8')))
      this.#clock.nextTurn(() => this.#heard(message));
    return true;
  }

  gather(): () => void {
    return () => undefined;
  }

  pauseOutput(): void {}
  resumeOutput(): void {}
  endInput(): void {}

  async close(): Promise<void> {
    await this.terminate();
  }

  async terminate(): Promise<void> {
    await Promise.resolve();
    this.killNow();
  }

  killNow(): void {
    this.finish({ fault: 'abandoned' });
  }

  finish(end: ServerEnd): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.#gone();
    this.#listener.ended();
  }
}
