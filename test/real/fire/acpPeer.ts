import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnyMessage, client, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';

type Json = Readonly<Record<string, unknown>>;

/** End of a request, as the client saw it. */
export interface Answer {
  readonly result?: Json;
  readonly error?: { readonly code?: number; readonly message?: string; readonly data?: unknown };
  /** True where the connection ended first. */
  readonly isClosed?: boolean;
}

/** A request under way. */
export interface Request {
  /** Answers that came so far, more than one included. */
  readonly answers: readonly Answer[];
  /** First answer, or the end of the connection. */
  readonly first: Promise<Answer>;
}

/** Official client of the Agent Client Protocol, with a look at each message beneath it: the client would hide a second answer. */
export class AcpPeer {
  readonly child: ChildProcess;
  readonly updates: { readonly atMs: number; readonly update: Json }[] = [];
  stderr = '';
  /** Questions of the agent so far. */
  questions = 0;
  /** Time that a person takes for a question, in ms. */
  answersAfterMs: number | 'never' = 0;
  readonly exited: Promise<string>;
  readonly #client: ReturnType<ReturnType<typeof client>['connect']>;
  /** Requests whose line was not written yet, and those under way or answered, by their id on the wire. */
  readonly #unsent: Answer[][] = [];
  readonly #answers = new Map<unknown, Answer[]>();

  constructor(words: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    const [command = '', ...args] = words;
    this.child = spawn(command, args, { env, cwd, stdio: 'pipe' });
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
      this.child.once('error', (error) => resolve(error.message));
    });
    const { stdin, stdout, stderr } = this.child;
    if (stdin === null || stdout === null) throw new TypeError('No pipes');
    stdin.on('error', () => undefined);
    stderr?.on('data', (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString()).slice(-4000);
    });
    const wire = ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>);
    this.#client = client({ name: 'fire' })
      .onRequest('session/request_permission', ({ params }) => this.#permit(params.options))
      .onNotification('session/update', ({ params }) => {
        this.updates.push({ atMs: Date.now(), update: params.update as Json });
      })
      .connect({
        readable: wire.readable.pipeThrough(seeing((message) => this.#received(message))),
        writable: into(wire.writable, (message) => this.#written(message)),
      });
  }

  request(method: string, params: Json): Request {
    const answers: Answer[] = [];
    this.#unsent.push(answers);
    const first = this.#client.agent.request<Json, Json>(method, params).then(
      (result): Answer => ({ result }),
      (error: unknown): Answer => (error instanceof RequestError ? { error } : { isClosed: true }),
    );
    return { answers, first };
  }

  notify(method: string, params: Json): void {
    this.#client.agent.notify(method, params).catch(() => undefined);
  }

  /** Text of the agent since a moment, in ms since the epoch. */
  textSince(fromMs: number): string {
    return this.updates
      .filter(({ atMs, update }) => atMs >= fromMs && update['sessionUpdate'] === 'agent_message_chunk')
      .map(({ update }) => ((update['content'] as Json | undefined)?.['text'] as string | undefined) ?? '')
      .join('');
  }

  #written(message: AnyMessage): void {
    const answers = 'method' in message && 'id' in message ? this.#unsent.shift() : undefined;
    if (answers !== undefined) this.#answers.set((message as { id: unknown }).id, answers);
  }

  #received(message: AnyMessage): void {
    if (!('method' in message)) this.#answers.get(message.id)?.push(message as Answer);
  }

  async #permit(options: readonly { readonly optionId: string; readonly kind: string }[]) {
    const chosen = options.find(({ kind }) => kind === 'allow_once') ?? options[0];
    this.questions++;
    if (this.answersAfterMs === 'never') await new Promise(() => undefined);
    else await pause(this.answersAfterMs);
    return { outcome: { outcome: 'selected' as const, optionId: chosen?.optionId ?? '' } };
  }
}

const seeing = (see: (message: AnyMessage) => void): TransformStream<AnyMessage, AnyMessage> =>
  new TransformStream({
    transform(message, controller) {
      see(message);
      controller.enqueue(message);
    },
  });

function into(writable: WritableStream<AnyMessage>, see: (message: AnyMessage) => void): WritableStream<AnyMessage> {
  const through = seeing(see);
  through.readable.pipeTo(writable).catch(() => undefined);
  return through.writable;
}
