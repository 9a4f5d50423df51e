import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

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
  readonly id: number;
  /** Answers that came so far, more than one included. */
  readonly answers: readonly Answer[];
  /** First answer, or the end of the connection. */
  readonly first: Promise<Answer>;
}

/** Client of the Agent Client Protocol by bare JSON-RPC: it has no limit of time, counts every answer and keeps every update. */
export class AcpPeer {
  readonly child: ChildProcess;
  readonly updates: { readonly atMs: number; readonly update: Json }[] = [];
  readonly stray: string[] = [];
  stderr = '';
  /** Questions of the agent so far. */
  questions = 0;
  /** Time that a person takes for a question, in ms. */
  answersAfterMs: number | 'never' = 0;
  readonly exited: Promise<string>;
  readonly #open = new Map<number, { readonly answers: Answer[]; settle(answer: Answer): void }>();
  #lastId = 0;

  constructor(words: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    const [command = '', ...args] = words;
    this.child = spawn(command, args, { env, cwd, stdio: 'pipe' });
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
      this.child.once('error', (error) => resolve(error.message));
    });
    this.child.stdin?.on('error', () => undefined);
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString()).slice(-4000);
    });
    if (this.child.stdout === null) throw new TypeError('No stdout');
    createInterface(this.child.stdout)
      .on('line', (line) => this.#read(line))
      .on('close', () => {
        for (const { settle } of this.#open.values()) settle({ isClosed: true });
      });
  }

  request(method: string, params: Json): Request {
    const id = ++this.#lastId;
    const answers: Answer[] = [];
    const first = new Promise<Answer>((settle) => {
      this.#open.set(id, { answers, settle });
    });
    this.#send({ id, method, params });
    return { id, answers, first };
  }

  notify(method: string, params: Json): void {
    this.#send({ method, params });
  }

  /** Text of the agent since a moment, in ms since the epoch. */
  textSince(fromMs: number): string {
    return this.updates
      .filter(({ atMs, update }) => atMs >= fromMs && update['sessionUpdate'] === 'agent_message_chunk')
      .map(({ update }) => ((update['content'] as Json | undefined)?.['text'] as string | undefined) ?? '')
      .join('');
  }

  #send(message: Json): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #read(line: string): void {
    let message: Json;
    try {
      message = JSON.parse(line) as Json;
    } catch {
      this.stray.push(line);
      return;
    }
    const { id, method, params } = message as { id?: number; method?: string; params?: Json };
    if (method === 'session/update') {
      this.updates.push({ atMs: Date.now(), update: (params?.['update'] ?? {}) as Json });
    } else if (method !== undefined && id !== undefined) this.#serve(id, method, params ?? {});
    else if (method === undefined && id !== undefined) {
      const open = this.#open.get(id);
      open?.answers.push(message);
      open?.settle(message);
    }
  }

  #serve(id: number, method: string, params: Json): void {
    if (method === 'session/request_permission') {
      const options = params['options'] as readonly { readonly optionId: string; readonly kind: string }[];
      const chosen = options.find(({ kind }) => kind === 'allow_once') ?? options[0];
      this.questions++;
      const answer = { id, result: { outcome: { outcome: 'selected', optionId: chosen?.optionId } } };
      if (this.answersAfterMs !== 'never') setTimeout(() => this.#send(answer), this.answersAfterMs);
    } else this.#send({ id, error: { code: -32601, message: `No method ${method}` } });
  }
}
