import type { Clock, Random, Timer } from '../../../policy/clock.ts';
import { dropBody, type HttpAnswer } from '../../../streams/readBody.ts';
import type { ServerSentEvent } from '../../../streams/serverSentEvents.ts';
import { isEventStream, messageText, readEventStream } from './eventStream.ts';

/** Needs of a standing stream from the link it belongs to. */
export interface StandingHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly maxMessageBytes: number;
  readonly flow: () => Promise<void> | undefined;
  /** Opens the stream. Rejects when it cannot. */
  open(signal: AbortSignal): Promise<HttpAnswer>;
  /** Handles a refusal; gives `true` when there is no use in asking again. */
  refused(response: HttpAnswer, signal: AbortSignal): Promise<boolean>;
  /** Receives one message, on one line without its end. @returns whether the stream goes on, is opened again, or is over for good. */
  message(text: string): 'on' | 'again' | 'over';
  /** The stream stands; what the server said before is lost. @param again - whether it has stood before. */
  opened(again: boolean): void;
  /** Tells whether the server answers, asked because the stream is silent. It is on the link to do something about it when not. */
  isAlive(): Promise<boolean>;
  /** The last event that came. */
  eventId?(id: string): void;
}

/** Time in ms that the server may take to open it. */
const headersMs = 30_000;

/** A stream on which the server says what it likes when it likes, kept open for as long as the link lives. */
export class StandingStream {
  readonly #host: StandingHost;
  readonly #reopening: Reopening;
  #abort = new AbortController();
  #isStopped = false;
  #wasOpen = false;
  #retryMs: number | undefined = undefined;

  constructor(host: StandingHost) {
    this.#host = host;
    this.#reopening = new Reopening(host.clock, host.random);
  }

  /** Opens it, and again whenever it ends. Never rejects; resolves when it is stopped, or there is none to be had. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      const isHopeless = await this.#once();
      if (isHopeless || this.#isStopped) return;
      await this.#reopening.wait(this.#retryMs);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#abort.abort();
    this.#reopening.stop();
  }

  /** @returns whether there is no use in opening it again. */
  async #once(): Promise<boolean> {
    const { clock } = this.#host;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const limit = clock.setTimeout(() => this.#abort.abort(), headersMs, { running: true });
    try {
      const response = await this.#host.open(signal);
      clock.clearTimeout(limit);
      if (!response.ok || !isEventStream(response)) return await this.#host.refused(response, signal);
      if (this.#isStopped) dropBody(response);
      else await this.#read(response);
    } catch {
      // It broke, or could not be opened: it is opened again.
    } finally {
      clock.clearTimeout(limit);
      this.#abort.abort();
    }
    return false;
  }

  async #read(response: HttpAnswer): Promise<void> {
    const { clock, maxMessageBytes: maxBytes, flow } = this.#host;
    this.#reopening.opened();
    this.#host.opened(this.#wasOpen);
    this.#wasOpen = true;
    const { signal } = this.#abort;
    const watch = new QuietWatch(clock, () => void this.#quiet());
    const stopWatch = (): void => watch.stop();
    signal.addEventListener('abort', stopWatch, { once: true });
    const heard = (): void => watch.heard();
    const commented = (): void => watch.commented();
    await readEventStream(response, { maxBytes, flow, heard, commented, onEvent: (event) => this.#take(event) });
  }

  #take({ event, data, id, retry }: ServerSentEvent): void {
    if (this.#isStopped) return;
    if (id !== undefined) this.#host.eventId?.(id);
    if (retry !== undefined) this.#retryMs = retry;
    if (data === '' || (event !== undefined && event !== 'message')) return;
    const what = this.#host.message(messageText(data));
    if (what === 'over') this.stop();
    else if (what === 'again') this.#abort.abort();
  }

  /** Opens another stream where the server answers: the connection of the stream may be the one that is dead. */
  async #quiet(): Promise<void> {
    const asked = this.#abort;
    if (await this.#host.isAlive()) asked.abort();
  }
}

/** The waits between two openings of a stream that has no natural end, in ms. */
const firstMs = 1000;
const longestMs = 30_000;
/** Time in ms that a stream has to live for the waits to begin anew. */
const livesMs = 30_000;
/** Share by which a wait may get longer, so that those whose server was restarted do not all come back at once. */
const spread = 0.25;

/** Times at which a standing stream is opened again: a server that ends it at once, and asks to be called at once, is not stormed. */
export class Reopening {
  readonly #clock: Clock;
  readonly #random: Random;
  #tries = 0;
  #openedAt: number | undefined = undefined;
  #waiting: { readonly timer: Timer; readonly done: () => void } | undefined = undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The stream stands. */
  opened(): void {
    this.#openedAt = this.#clock.now();
  }

  /** Resolves when it may be opened again, or with `stop`. @param retryMs - what the server asked for: it may be longer, never shorter. */
  async wait(retryMs: number | undefined): Promise<void> {
    const livedMs = this.#openedAt === undefined ? 0 : this.#clock.now() - this.#openedAt;
    this.#openedAt = undefined;
    if (livedMs >= livesMs) this.#tries = 0;
    const ownMs = Math.min(longestMs, firstMs * 2 ** this.#tries);
    this.#tries++;
    const delayMs = Math.min(Math.max(ownMs, retryMs ?? 0), 10 * longestMs) * (1 + spread * this.#random());
    await new Promise<void>((resolve) => {
      this.#waiting = { timer: this.#clock.setTimeout(resolve, delayMs), done: resolve };
    });
    this.#waiting = undefined;
  }

  stop(): void {
    this.#clock.clearTimeout(this.#waiting?.timer);
    this.#waiting?.done();
  }
}

/** Time in ms that a stream may be silent: servers that send comments send one every 15 s, others need not say anything. */
const commentedMs = 30_000;
const uncommentedMs = 300_000;

/** Notices that a standing stream brings nothing any more, not even the comments it used to bring: its connection may be half-open. */
export class QuietWatch {
  readonly #clock: Clock;
  readonly #quiet: () => void;
  #heardAt: number;
  #hasComments = false;
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock, quiet: () => void) {
    this.#clock = clock;
    this.#quiet = quiet;
    this.#heardAt = clock.now();
    this.#arm();
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  commented(): void {
    if (this.#hasComments) return;
    this.#hasComments = true;
    this.#arm();
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#clock.clearTimeout(this.#timer);
    const limitMs = this.#hasComments ? commentedMs : uncommentedMs;
    const leftMs = this.#heardAt + limitMs - this.#clock.now();
    this.#timer = this.#clock.setTimeout(
      () => {
        if (this.#heardAt + limitMs <= this.#clock.now()) this.#quiet();
        else this.#arm();
      },
      Math.max(0, leftMs),
      { running: true },
    );
  }
}
