import { AnswerCheck, cutOff } from './answerCheck.ts';
import { EncodedBody } from './encodedBody.ts';
import type { AnswerBody, AnswerReader, HttpAnswer } from './readBody.ts';
import type { KeptConnections } from './keptConnections.ts';
import { type Abort, hostDispatcher, ownDispatcher, requestSettings } from './ownDispatcher.ts';

/** Request without a stream in it. */
export interface PlainRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** Names and values in turn, of {@link headerList}. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends a request where the global `fetch` would: by its dispatcher, without the streams and objects of the web, which take several times as long as all
 * else; by `fetch` itself where somebody has put another in its place, or it has no dispatcher (Bun, Deno). No redirect is followed.
 *
 * @returns the answer as soon as its head is there. Rejects with what the connection broke with, or the signal was aborted with.
 */
export function sendRequest(request: PlainRequest, kept: KeptConnections): Promise<HttpAnswer> {
  const { method, url, headers, body, signal } = request;
  const dispatcher = hostDispatcher();
  if (dispatcher === undefined) {
    const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]] as [string, string]] : []));
    const init = { method, headers: pairs, body: body ?? null, signal, redirect: 'manual' as const };
    return fetch(url, { ...init, ...ownDispatcher(kept) });
  }
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    if (target?.url !== url) target = { url, origin: url.origin, path: url.pathname + url.search };
    const answer = new DispatchedAnswer(signal, kept, resolve);
    const { origin, path } = target;
    dispatcher.dispatch({ ...requestSettings, origin, path, method, headers, body: body ?? null }, answer);
  });
}

/** Parts of the address that was asked last. */
let target: { readonly url: URL; readonly origin: string; readonly path: string } | undefined;

/** The headers of a request as `fetch` would send them: it names itself, and what it unpacks. A later one takes the place of one of the same name before it. */
export function headerList({ protocol }: URL, ...records: readonly Readonly<Record<string, string>>[]): string[] {
  const encodings = protocol === 'https:' ? 'br, gzip, deflate' : 'gzip, deflate';
  const usual: Record<string, string> = { 'user-agent': 'node', 'accept-encoding': encodings };
  return Object.entries(Object.assign(usual, ...records) as typeof usual).flat();
}

/** Bytes that may have come before they are asked for; then undici is told to wait. */
const mostUnread = 65_536;

/** Handler of one request, and its answer. */
class DispatchedAnswer implements HttpAnswer, AnswerBody, AnswerReader {
  status = 0;
  ok = false;
  locked = false;
  readonly bodyUsed = false;
  readonly body = this;
  readonly headers = { get: (name: string) => this.#header(name), has: (name: string) => this.#header(name) !== null };
  readonly #signal: AbortSignal;
  readonly #check: AnswerCheck;
  readonly #resolve: (answer: HttpAnswer | Promise<never>) => void;
  readonly #chunks: Uint8Array[] = [];
  #raw: readonly Uint8Array[] = [];
  #encoded: EncodedBody | undefined = undefined;
  #abort: Abort | undefined = undefined;
  #resume: (() => void) | undefined = undefined;
  #unread = 0;
  #isPaused = false;
  #end: { readonly error: unknown } | undefined = undefined;
  /** Wakes the reader that waits for the next bytes. */
  #wake: (() => void) | undefined = undefined;

  constructor(signal: AbortSignal, kept: KeptConnections, resolve: (answer: HttpAnswer | Promise<never>) => void) {
    this.#signal = signal;
    this.#check = new AnswerCheck(kept);
    this.#resolve = resolve;
    signal.addEventListener('abort', this.#aborted);
  }

  onConnect(abort: Abort): void {
    this.#check.begin();
    this.#abort = abort;
    if (this.#end !== undefined) abort(this.#end.error);
  }

  onHeaders(status: number, raw: readonly Uint8Array[], resume: () => void): boolean {
    // What comes before the answer itself says nothing.
    if (status < 200) return true;
    this.#resume = resume;
    this.status = status;
    this.ok = status < 300;
    this.#raw = raw;
    this.#check.answered(['transfer-encoding', this.#header('transfer-encoding') ?? '']);
    this.#encoded = EncodedBody.of(this.#header('content-encoding') ?? '', (chunk) => this.#take(chunk));
    this.#resolve(this);
    return true;
  }

  onData(chunk: Uint8Array): boolean {
    this.#check.push(chunk);
    if (this.#encoded === undefined) this.#take(chunk);
    else this.#encoded.push(chunk);
    return !this.#isPaused;
  }

  onComplete(): void {
    const broken = this.#check.end() as Error | undefined;
    if (this.#encoded === undefined || broken !== undefined) this.#over(broken);
    else void this.#encoded.end().then((error) => this.#over(error?.code === 'Z_BUF_ERROR' ? cutOff() : error));
  }

  onError(error: unknown): void {
    this.#check.drop();
    this.#over(error ?? new Error('The request failed'));
  }

  get arrived(): readonly Uint8Array[] | undefined {
    return this.#end === undefined || this.#end.error !== undefined || this.locked ? undefined : this.#chunks;
  }

  getReader(): AnswerReader {
    this.locked = true;
    return this;
  }

  async read(): ReturnType<AnswerReader['read']> {
    while (this.#chunks.length === 0 && this.#end === undefined) await new Promise<void>((wake) => (this.#wake = wake));
    const value = this.#chunks.shift();
    if (value !== undefined) {
      this.#unread -= value.byteLength;
      if (this.#isPaused && this.#chunks.length === 0) this.#goOn();
      return { done: false, value };
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return { done: true };
  }

  cancel(): Promise<void> {
    this.#giveUp(undefined);
    return Promise.resolve();
  }

  #take(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(chunk);
    this.#unread += chunk.byteLength;
    if (this.#unread > mostUnread && !this.#isPaused) {
      this.#isPaused = true;
      this.#encoded?.pause();
    }
    this.#wake?.();
  }

  #goOn(): void {
    this.#isPaused = false;
    this.#encoded?.resume();
    this.#resume?.();
  }

  readonly #aborted = (): void => this.#giveUp(this.#signal.reason);

  #giveUp(reason: unknown): void {
    this.#chunks.length = 0;
    if (this.#end !== undefined) return;
    this.#check.giveUp();
    this.#encoded?.drop();
    this.#over(reason);
    this.#abort?.(reason ?? new Error('Nobody reads the answer'));
  }

  #over(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#signal.removeEventListener('abort', this.#aborted);
    if (this.status === 0) this.#resolve(Promise.reject(error as Error));
    this.#wake?.();
  }

  /** The value of a header; several of a name are joined. */
  #header(name: string): string | null {
    let found: string | null = null;
    for (let at = 0; at + 1 < this.#raw.length; at += 2) {
      const own = this.#raw[at];
      if (own?.length !== name.length || String(own).toLowerCase() !== name) continue;
      const value = Buffer.from(this.#raw[at + 1] ?? []).toString('latin1');
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }
}
