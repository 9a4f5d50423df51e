import { parsedJson } from '../../policy/text/parsedJson.ts';
import { writtenJson } from '../../policy/text/writtenJson.ts';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../policy/clock.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { rpcErrors } from '../../protocol/jsonRpc.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import { gluedMessage, type McpId } from '../../protocol/mcp/message.ts';
import { LostRequest, MalformedAnswer } from './mcpCall.ts';
import { createStderrTail, type StderrTail, plainText } from './mcpStderr.ts';
import { valueHider } from '../process/valueHider.ts';
import type { ServerLink, ServerTarget } from './serverLink.ts';

/** Told about output that is not part of the protocol; `line` is bounded and safe to print. */
export type StrayListener = (stream: 'stdout' | 'stderr', line: string) => void;

const longestStrayCharacters = 1000;
/** Characters of a malformed answer that are shown. */
const longestShownCharacters = 200;

/**
 * The messages to and from a server. The SDK's own transport of a process kills only the process itself, waits for pipes that a
 * grandchild may hold, and takes quadratic time over a large message.
 */
export class McpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** Reads one parsed line, undefined when it is no message; set before the start. */
  read: (value: unknown) => JSONRPCMessage | undefined = () => undefined;
  /** The server has sent a notification. Must not throw. */
  onnotice?: (method: string) => void;
  /** The server can be written to. */
  onspawn?: (pid: number | undefined) => void;

  readonly server: ServerLink;
  readonly #onStray: StrayListener;
  readonly #hide: (text: string) => string;
  readonly #errors: StderrTail;
  /** Requests without an answer; an answer to any other is late. */
  readonly #asked = new Set<unknown>();
  #lateAnswers = 0;
  #isGreeted = false;

  constructor(target: ServerTarget, clock: Clock, onStray: StrayListener) {
    this.#onStray = onStray;
    this.#hide = valueHider(target.secrets);
    const errors = createStderrTail(clock, this.#hide, (line) => this.#stray('stderr', line));
    this.#errors = errors;
    const lines = createLineSplitter({
      maxBytes: target.maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onTooLong: () => this.server.finish({ fault: 'message_too_large' }),
    });
    this.server = target.open(clock, {
      started: (pid) => this.onspawn?.(pid),
      output: (chunk) => lines.push(chunk),
      outputEnded: () => lines.end(),
      errors: (chunk) => errors.push(chunk),
      errorsEnded: () => errors.end(),
      requestFailed: (id, facts) => this.#requestFailed(id, facts),
      ended: () => {
        this.#asked.clear();
        this.onclose?.();
      },
    });
  }

  /** The handshake is over; a request of it that failed ended the link. */
  greeted(): void {
    this.#isGreeted = true;
    this.#errors.up();
  }

  /** The last of what the server wrote to stderr, on one line; once it is up, only since then. */
  get lastWords(): string {
    return this.#errors.lastWords();
  }

  /** Answers that came when nobody waited for them any more; they were dropped. */
  get lateAnswers(): number {
    return this.#lateAnswers;
  }

  /** @throws {@link AttemptError} when there is nothing to start, or the system refuses. */
  start(): Promise<void> {
    return this.server.start();
  }

  /** Rejects before a byte was written when the server is gone (`Not connected`), or when the message is no JSON. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.server.write(`${writtenJson(message)}\n`)) throw new Error('Not connected');
    if (!('method' in message)) return;
    if ('id' in message) this.#asked.add(message.id);
    else if (message.method === 'notifications/cancelled') {
      this.#asked.delete(message.params?.['requestId']);
    }
  }

  /** Ends the server in good order. Never rejects. */
  close(): Promise<void> {
    return this.server.close();
  }

  #receive(line: string): void {
    if (this.server.end !== undefined || line.trim() === '') return;
    const value = parsedJson(line);
    if (value === undefined) this.#receiveNoise(line);
    // Servers of 2025-03-26 may send several messages as one.
    else if (Array.isArray(value)) this.#receiveBatch(value, line);
    else if (!this.#take(value, line)) this.#strayLine(line);
  }

  #receiveNoise(line: string): void {
    const glued = gluedMessage(line, (value) => this.#isAsked(value));
    this.#strayLine(glued?.noise ?? line);
    if (glued !== undefined) this.#take(glued.value, line.slice(glued.noise.length));
  }

  /** Counts a list of anything else as printed. */
  #receiveBatch(values: readonly unknown[], line: string): void {
    const strange = values.filter((value) => !this.#take(value, JSON.stringify(value)));
    if (strange.length > 0 || values.length === 0) {
      this.#strayLine(strange.length === values.length ? line : JSON.stringify(strange));
    }
  }

  /** Hands a message on. False when it is none. */
  #take(value: unknown, text: string): boolean {
    const message = this.read(value) ?? this.#malformedAnswer(value, text);
    if (message !== undefined) this.#deliver(message);
    return message !== undefined;
  }

  #deliver(message: JSONRPCMessage): void {
    if ('method' in message && !('id' in message)) this.onnotice?.(message.method);
    if (!('method' in message) && !this.#asked.delete(message.id)) {
      this.#lateAnswers += 1;
      return;
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** It will get no answer: the client is given one that says why. */
  #requestFailed(id: McpId, facts: FailureFacts): void {
    if (!this.#asked.has(id)) return;
    if (!this.#isGreeted) {
      // Taken for an answer it would say something of the server's era.
      this.server.finish({ facts });
      return;
    }
    const error = { code: rpcErrors.internal, message: facts.message, data: new LostRequest(facts) };
    this.#deliver({ jsonrpc: '2.0', id, error });
  }

  /** Makes an error of a value that has the id of a request, and not the form of an answer: nothing else will answer that request. */
  #malformedAnswer(value: unknown, line: string): JSONRPCMessage | undefined {
    if (!this.#isAsked(value)) return undefined;
    const { id } = value;
    const message = this.#start(line, longestShownCharacters);
    return { jsonrpc: '2.0', id, error: { code: rpcErrors.parse, message, data: new MalformedAnswer() } };
  }

  /** Tells whether it has the id of a request that has no answer, and is none itself. */
  #isAsked(value: unknown): value is { readonly id: number | string } {
    if (typeof value !== 'object' || value === null || 'method' in value || !('id' in value)) return false;
    return (typeof value.id === 'number' || typeof value.id === 'string') && this.#asked.has(value.id);
  }

  #strayLine(line: string): void {
    this.#stray('stdout', this.#start(line, longestStrayCharacters));
  }

  /** The start of a line, safe to print. */
  #start(line: string, longest: number): string {
    // Cut off with room to spare first: a value that is cut in two would not be found.
    return plainText(this.#hide(line.slice(0, 2 * longestStrayCharacters)).slice(0, longest));
  }

  #stray(stream: 'stdout' | 'stderr', line: string): void {
    try {
      this.#onStray(stream, line);
    } catch {
      // A listener for stray output must not break the connection it hears it from.
    }
  }
}
