import type { Readable, Writable } from 'node:stream';
import {
  type RpcError,
  type RpcId,
  createLineSplitter,
  parseRpc,
  rpcErrors,
  rpcLine,
} from '../../src/protocol/face.ts';

/** Pipes of an agent: a child process has them, and so has `inProcessAcpAgent`. */
export interface AcpPipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** Answer to a request of the client; `isClosed` when the agent's stdout ended before there was one. */
export interface AcpReply {
  readonly result?: unknown;
  readonly error?: RpcError | undefined;
  readonly isClosed?: true;
}

export type AcpParams = Readonly<Record<string, unknown>>;

interface AcpHandlers {
  onNotification(method: string, params: AcpParams): void;
  /** @returns its result at some time; undefined is no answer, a throw that there is no such method. */
  onRequest(method: string, params: AcpParams): Promise<object | undefined>;
}

/** The client's side of a conversation, message by message. */
export class AcpWire {
  /** Lines that are no message. */
  readonly strays: string[] = [];
  /** Ids of answers that no request waited for. */
  readonly oddAnswers: unknown[] = [];
  readonly #pipes: AcpPipes;
  readonly #handlers: AcpHandlers;
  readonly #waiting = new Map<RpcId | null, ((reply: AcpReply) => void)[]>();
  isClosed = false;

  constructor(pipes: AcpPipes, handlers: AcpHandlers) {
    this.#pipes = pipes;
    this.#handlers = handlers;
    const lines = createLineSplitter({
      maxBytes: 2 ** 30,
      onLine: (line) => this.#take(line),
      onTooLong: () => undefined,
    });
    const close = (): void => {
      this.isClosed = true;
      lines.end();
      for (const settle of [...this.#waiting.values()].flat()) settle({ isClosed: true });
      this.#waiting.clear();
    };
    pipes.stdin.on('error', () => undefined);
    pipes.stdout
      .on('data', (chunk: Buffer) => lines.push(chunk))
      .on('end', close)
      .on('close', close);
  }

  write(text: string): void {
    this.#pipes.stdin.write(text);
  }

  notify(method: string, params: object): void {
    this.write(rpcLine({ method, params }));
  }

  /** Never rejects. @param onReply - told of the reply before the next message is read. */
  request(id: RpcId, method: string, params: object, onReply?: (reply: AcpReply) => void): Promise<AcpReply> {
    if (this.isClosed) return Promise.resolve({ isClosed: true });
    const reply = new Promise<AcpReply>((resolve) => {
      const settle = (reply: AcpReply): void => {
        onReply?.(reply);
        resolve(reply);
      };
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), settle]);
    });
    this.write(rpcLine({ id, method, params }));
    return reply;
  }

  #take(line: string): void {
    const message = parseRpc(line);
    if (message.kind === 'garbage') this.strays.push(line);
    else if (message.kind === 'notification')
      this.#handlers.onNotification(message.method, (message.params ?? {}) as AcpParams);
    else if (message.kind === 'request') {
      const { id, method, params } = message;
      void this.#handlers.onRequest(method, (params ?? {}) as AcpParams).then(
        (result) => result !== undefined && this.write(rpcLine({ id, result })),
        () => this.write(rpcLine({ id, error: { code: rpcErrors.methodNotFound, message: method } })),
      );
    } else {
      const settle = this.#waiting.get(message.id)?.shift();
      if (settle !== undefined) settle(message);
      else if (message.id !== null) this.oddAnswers.push(message.id);
    }
  }
}
