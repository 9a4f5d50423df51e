import type { Clock } from '../../../policy/clock.ts';
import type { FailureFacts } from '../../../policy/failures/failure.ts';
import type { McpId } from '../../../protocol/mcp/message.ts';
import type { ServerEnd, ServerLink, ServerLinkListener } from '../serverLink.ts';
import type { FailureScope } from './httpFailure.ts';
import { type Outgoing, readOutgoing } from './openRequests.ts';
import type { RemoteContext } from './remoteContext.ts';

/** Common base of the links to remote servers: lines go out one by one, the first of them in order, and the end is told once. */
export abstract class RemoteLink implements ServerLink {
  readonly pid = undefined;
  readonly exit = {};
  readonly isFull = false;
  protected readonly context: RemoteContext;
  protected readonly clock: Clock;
  protected readonly scope: FailureScope;
  readonly #listener: ServerLinkListener;
  #end: ServerEnd | undefined = undefined;
  #closing: Promise<void> | undefined = undefined;
  #exited: Promise<void> = Promise.resolve();
  #noteGone: () => void = () => undefined;
  /** Lines that wait until the server knows that the handshake is over. */
  #held: Outgoing[] | undefined = undefined;
  #paused: { readonly over: Promise<void>; readonly resume: () => void } | undefined = undefined;
  #inputEnded = false;
  /** Lines of the server that have come in this turn of the event loop. */
  #heard: Buffer[] = [];
  /** Questions of ours that wait for an answer. */
  readonly #asked = new Set<AbortController>();

  constructor(context: RemoteContext, clock: Clock, listener: ServerLinkListener) {
    this.context = context;
    this.clock = clock;
    this.scope = { clock, hide: (text) => context.hide(text) };
    this.#listener = listener;
  }

  get end(): ServerEnd | undefined {
    return this.#end;
  }

  get exited(): Promise<void> {
    return this.#exited;
  }

  async start(): Promise<void> {
    this.#exited = new Promise((resolve) => (this.#noteGone = resolve));
    await this.open();
    if (this.#end === undefined) this.#listener.started(undefined);
  }

  write(data: string | Uint8Array): boolean {
    if (this.#end !== undefined || this.#inputEnded || !this.takesRequests) return false;
    const text =
      typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8');
    for (const line of text.split('\n')) if (line.trim() !== '') this.#pass(readOutgoing(line));
    return true;
  }

  gather(): () => void {
    return () => undefined;
  }

  pauseOutput(): void {
    if (this.#paused !== undefined) return;
    let resume = (): void => undefined;
    const over = new Promise<void>((resolve) => (resume = resolve));
    this.#paused = { over, resume };
  }

  resumeOutput(): void {
    this.#paused?.resume();
    this.#paused = undefined;
  }

  endInput(): void {
    this.#inputEnded = true;
    this.checkIdle();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  terminate(): Promise<void> {
    this.killNow();
    return Promise.resolve();
  }

  killNow(): void {
    this.finish({ fault: 'abandoned' });
    this.context.requester.letGo();
    this.#noteGone();
  }

  finish(end: ServerEnd): void {
    this.#handOn();
    if (this.#end !== undefined) return;
    this.#end = end;
    this.resumeOutput();
    this.release();
    for (const own of this.#asked) own.abort();
    this.#listener.ended();
  }

  /** Connects, as far as that takes more than the first request. */
  protected abstract open(): Promise<void>;
  /** Sends one line. */
  protected abstract send(outgoing: Outgoing): Promise<void>;
  /** True while a line could be sent. */
  protected abstract readonly takesRequests: boolean;
  /** True while requests wait for their answers. */
  protected abstract readonly isBusy: boolean;
  /** Lets go of every connection. */
  protected abstract release(): void;
  /** Takes leave of the server, once nothing else goes on. Never rejects. */
  protected abstract takeLeave(): Promise<void>;
  /** The server has been told that the handshake is over. */
  protected abstract shookHands(): void;

  /** Waited for before more is read of a stream: whom the output is for does not keep up. */
  protected readonly flow = (): Promise<void> | undefined => this.#paused?.over;

  /** Hands on one line of the server, its end included, with all others of this turn. */
  protected out(line: string): void {
    if (this.#end !== undefined) return;
    if (this.#heard.length === 0) this.clock.nextTurn(() => this.#handOn());
    this.#heard.push(Buffer.from(line));
  }

  protected requestFailed(id: McpId, facts: FailureFacts): void {
    this.#handOn();
    if (this.#end === undefined) this.#listener.requestFailed?.(id, withProbe(facts));
  }

  /** Puts a question of ours to the server. Its signal is aborted when it is over, and with the end of the link, after which none is put. */
  protected async asking<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const own = new AbortController();
    this.#asked.add(own);
    if (this.#end !== undefined) own.abort();
    try {
      return await ask(own.signal);
    } finally {
      own.abort();
      this.#asked.delete(own);
    }
  }

  /** Something was answered; where nothing more is to come, the link ends. */
  protected checkIdle(): void {
    if (this.#inputEnded && !this.isBusy && this.#end === undefined) {
      this.finish({ exitCode: 0 });
      void this.close();
    }
  }

  #handOn(): void {
    const heard = this.#heard;
    this.#heard = [];
    const [only] = heard;
    if (only !== undefined) this.#listener.output(heard.length === 1 ? only : Buffer.concat(heard));
  }

  #pass(outgoing: Outgoing): void {
    if (this.#held !== undefined) {
      this.#held.push(outgoing);
      return;
    }
    const sent = this.send(outgoing);
    if (!isInitialized(outgoing)) return;
    this.#held = [];
    void sent.then(() => {
      const held = this.#held ?? [];
      this.#held = undefined;
      if (this.#end !== undefined) return;
      this.shookHands();
      for (const each of held) this.#pass(each);
    });
  }

  async #close(): Promise<void> {
    this.finish({ fault: 'abandoned' });
    await this.takeLeave();
    this.context.requester.letGo();
    this.#noteGone();
  }
}

/** After how long at most a server is asked whether it is still to be left alone, in ms: what it said may have been meant for a minute, or come from another one before it. */
const longestUnaskedMs = 60_000;

function withProbe(facts: FailureFacts): FailureFacts {
  const isLong = (facts.retryAfterMs ?? 0) > longestUnaskedMs;
  return isLong ? { ...facts, probeAfterMs: longestUnaskedMs } : facts;
}

function isInitialized({ message }: Outgoing): boolean {
  return message.kind === 'notification' && message.method === 'notifications/initialized';
}
