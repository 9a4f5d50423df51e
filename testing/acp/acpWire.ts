import type { Readable, Writable } from 'node:stream';
import { isConversation } from '../../src/protocol/acp/face.ts';
import { type RpcError, type RpcId, parseRpc, rpcErrors, rpcLine } from '../../src/protocol/face.ts';
import { wholeLines } from '../wholeLines.ts';

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

/** Parameters of a message, or an object in one, as they came. */
export type AcpParams = Readonly<Record<string, unknown>>;

interface AcpHandlers {
  onUpdate(session: string, update: AcpParams): void;
  /** Gives the outcome of a permission; undefined is no answer. */
  permit(session: string, options: readonly AcpParams[]): Promise<AcpParams | undefined>;
}

/** The client's side of a conversation, message by message. */
export class AcpWire {
  /** Notifications and requests of the agent so far. */
  readonly received: { readonly method: string; readonly params: AcpParams }[] = [];
  /** Lines that are no message. */
  readonly strays: string[] = [];
  /** Ids of answers that no request waited for. */
  readonly oddAnswers: unknown[] = [];
  /** Kinds of updates of a turn that came when there was none. */
  readonly late: string[] = [];
  readonly #pipes: AcpPipes;
  readonly #handlers: AcpHandlers;
  readonly #waiting = new Map<RpcId | null, ((reply: AcpReply) => void)[]>();
  /** Sessions of requests without an answer, as often, and those that were loaded: their history may come after the answer. */
  #open: string[] = [];
  isClosed = false;

  constructor(pipes: AcpPipes, handlers: AcpHandlers) {
    this.#pipes = pipes;
    this.#handlers = handlers;
    const lines = wholeLines((line) => this.#take(line));
    const close = (): void => {
      this.isClosed = true;
      lines.end();
      for (const settle of [...this.#waiting.values()].flat()) settle({ isClosed: true });
      this.#waiting.clear();
    };
    pipes.stdin.on('error', () => undefined);
    pipes.stdout.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', close);
    pipes.stdout.on('close', close);
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
    const session = String((params as AcpParams)['sessionId']);
    if (method === 'session/prompt') this.#open = this.#open.filter((each) => each !== `loaded ${session}`);
    this.#open.push(session);
    const reply = new Promise<AcpReply>((resolve) => {
      const settle = (reply: AcpReply): void => {
        this.#open.splice(this.#open.indexOf(session), 1);
        if (method === 'session/load') this.#open.push(`loaded ${session}`);
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
    else if (message.kind === 'notification') this.#hear(message.method, (message.params ?? {}) as AcpParams);
    else if (message.kind === 'request') void this.#answer(message.id, message.method, message.params as AcpParams);
    else {
      const settle = this.#waiting.get(message.id)?.shift();
      if (settle !== undefined) settle(message);
      else if (message.id !== null) this.oddAnswers.push(message.id);
    }
  }

  #hear(method: string, params: AcpParams): void {
    this.received.push({ method, params });
    if (method !== 'session/update') return;
    const [session, update] = [String(params['sessionId']), params['update'] as AcpParams];
    const isExpected = [session, `loaded ${session}`].some((each) => this.#open.includes(each));
    if (!isExpected && isConversation(update)) this.late.push(String(update['sessionUpdate']));
    this.#handlers.onUpdate(session, update);
  }

  async #answer(id: RpcId, method: string, params: AcpParams = {}): Promise<void> {
    this.received.push({ method, params });
    if (method !== 'session/request_permission') {
      this.write(rpcLine({ id, error: { code: rpcErrors.methodNotFound, message: method } }));
      return;
    }
    const options = (params['options'] ?? []) as readonly AcpParams[];
    const outcome = await this.#handlers.permit(String(params['sessionId']), options);
    if (outcome !== undefined) this.write(rpcLine({ id, result: { outcome } }));
  }
}

/** The text that an update carries, which may be none. */
export function textOf(update: AcpParams): string {
  const { text } = (update['content'] ?? {}) as AcpParams;
  return typeof text === 'string' ? text : '';
}

/** Outcome of a permission: the first option of a kind that begins so. */
export function selected(options: readonly AcpParams[], kind: 'allow' | 'reject'): AcpParams {
  const option = options.find((each) => String(each['kind']).startsWith(kind));
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option['optionId'] };
}
