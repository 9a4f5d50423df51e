import { PassThrough } from 'node:stream';
import type { AcpProxy } from '../../../proxy/acp/acpProxy.ts';
import { type Outcome, AttemptError, type Failure } from '../../../src/policy/failures/face.ts';
import {
  createByteLines,
  errorAnswer,
  notificationLine,
  requestLine,
  rpcErrors,
  rpcLine,
} from '../../../src/protocol/face.ts';
import {
  type McpAnswer,
  type McpParams,
  type McpRequest,
  fieldsOf,
  idKey,
  readMessage,
} from '../../../src/protocol/mcp/face.ts';

/** Conversation as the client has it: it hears what is told of its session, and is asked. */
export interface AcpListener {
  /** Told of an update of its session. Must not throw. */
  heard(update: McpParams): void;
  /** Asked for a permission. Resolves with the result; never rejects. */
  permit(params: McpParams): Promise<McpParams>;
}

/** Settings of a prompt. */
type PromptSettings = Parameters<AcpProxy['prompt']>[1]['settings'];

/** Longest line of the proxy, in bytes. */
const maxLineBytes = 65 * 1024 * 1024;

/** A client of an agent behind a proxy in this process. It offers no files and no terminal: the agent has its own. */
export class AcpClient {
  /** The two ends of the proxy. */
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly #listeners = new Map<string, AcpListener>();
  readonly #asked = new Map<string, (answer: McpAnswer) => void>();
  #lastId = 0;
  #initialized: Promise<McpParams> | undefined = undefined;

  constructor() {
    const lines = createByteLines({
      maxBytes: maxLineBytes,
      onLine: (line) => this.#take(line.toString('utf8')),
      onTooLong: () => undefined,
    });
    this.output.on('data', (chunk: Buffer) => lines.push(chunk));
  }

  /** Hears a session from now on. @returns how it is heard no longer. */
  listen(session: string, listener: AcpListener): () => void {
    this.#listeners.set(session, listener);
    return () => {
      if (this.#listeners.get(session) === listener) this.#listeners.delete(session);
    };
  }

  /** Opens a session, after the handshake. Rejects with {@link AttemptError} where the agent refuses. */
  async open(
    request: (initialized: McpParams) => { readonly method: string; readonly params: McpParams },
  ): Promise<McpParams> {
    this.#initialized ??= this.#ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const initialized = await this.#initialized.catch((error: unknown) => {
      this.#initialized = undefined;
      throw error;
    });
    const { method, params } = request(initialized);
    return this.#ask(method, params);
  }

  /** Has a prompt answered. Never rejects. */
  prompt(proxy: AcpProxy, params: McpParams, settings: PromptSettings): Promise<Outcome<McpAnswer>> {
    const id = `turn-${++this.#lastId}`;
    const request: McpRequest = { kind: 'request', id, key: idKey(id) ?? '', method: 'session/prompt', params };
    return new Promise((settled) => proxy.prompt(request, { settings, settled }));
  }

  cancel(session: string): void {
    this.input.write(notificationLine('session/cancel', { sessionId: session }));
  }

  end(): void {
    this.input.end();
  }

  #ask(method: string, params: McpParams): Promise<McpParams> {
    const id = `ask-${++this.#lastId}`;
    return new Promise((resolve, reject) => {
      this.#asked.set(idKey(id) ?? '', ({ result, error }) => {
        if (result === undefined) reject(refusal(method, error));
        else resolve(result);
      });
      this.input.write(requestLine(id, method, params));
    });
  }

  #take(line: string): void {
    const message = readMessage(line);
    if (message.kind === 'answer') {
      const answered = this.#asked.get(message.key ?? '');
      this.#asked.delete(message.key ?? '');
      answered?.(message);
      return;
    }
    if (message.kind !== 'request' && message.kind !== 'notification') return;
    const { method, params } = message;
    const listener = this.#listeners.get(String(params['sessionId']));
    if (message.kind === 'notification') {
      if (method === 'session/update') listener?.heard(fieldsOf(params['update']));
      return;
    }
    const { id } = message;
    if (method === 'session/request_permission') {
      const asked = listener?.permit(params) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } });
      void asked.then((result) => this.input.write(rpcLine({ id, result })));
    } else this.input.write(errorAnswer(id, rpcErrors.methodNotFound, `Method not found: ${method}`));
  }
}

/** The refusal of a request: what the proxy says of it, where it is the proxy that refuses. */
function refusal(method: string, error: McpAnswer['error']): AttemptError {
  const said = error?.['message'];
  const message = `${method}: ${typeof said === 'string' ? said : 'refused'}`;
  const known = fieldsOf(fieldsOf(error?.['data'])['unwedge/failure']) as Partial<Failure>;
  const { kind = 'permanent', reason, retryAfterMs } = known;
  const isAuth = error?.['code'] === -32_000 && known.kind === undefined;
  return new AttemptError({ kind: isAuth ? 'auth' : kind, reason, retryAfterMs, message, outcome: 'not_started' });
}
