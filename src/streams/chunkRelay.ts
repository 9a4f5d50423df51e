import { IntegrationError, type Outcome } from '../policy/failures/failure.ts';
import { type ChunkSource, isResponse, openChunkSource, refusedBy } from './chunkSource.ts';

/** Result of a stream. */
export interface StreamEnd {
  /** Chunks that its reader took. */
  readonly chunks: number;
  /** From the call to the first chunk, waits and retries included, in ms; undefined when none came. */
  readonly firstChunkMs: number | undefined;
}

/** Attempt that reads the source of a stream, as far as it is needed. */
export interface StreamedAttempt {
  readonly signal: AbortSignal;
  /** A chunk came, and its reader has not asked for the next one: the limits on silence and on the attempt stand still. */
  rest(): void;
  /** The next chunk is asked for. */
  resume(): void;
  /** @returns when, in ms since the call. */
  firstChunkCame(): number;
}

/** Goes on where a stream broke: gives the input of the next attempt. */
export type Resume<I, C> = (lastChunk: C, input: I, chunks: number) => I;

/** The reader's question for one chunk. */
interface Pull<C> {
  resolve(result: IteratorResult<C, undefined>): void;
  reject(error: unknown): void;
}

/** Functions that settle the promise made last. */
let keptPull: Pull<never>;

// Serves all chunks, so that none makes a function of its own.
function keepPull(resolve: Pull<never>['resolve'], reject: Pull<never>['reject']): void {
  keptPull = { resolve, reject };
}

/**
 * Between the source of a stream and its reader, for all attempts of one call. A chunk is asked for when the reader asks, and handed over as
 * it comes: nothing is buffered, and a slow reader slows the source down. What an attempt gives after its end reaches nobody.
 */
export class ChunkRelay<I, C> {
  readonly #resume: Resume<I, C> | undefined;
  #reading: Reading<I, C> | undefined = undefined;
  #pull: Pull<C> | undefined = undefined;
  #outcome: Outcome<StreamEnd> | undefined = undefined;
  #chunks = 0;
  #lastChunk: C | undefined = undefined;
  #firstChunkMs: number | undefined = undefined;
  #written: ((chunk: C) => string) | undefined = undefined;

  /** @param resume - where it breaks in the middle. */
  constructor(resume: Resume<I, C> | undefined) {
    this.#resume = resume;
  }

  get chunks(): number {
    return this.#chunks;
  }

  /** True while the reader waits for a chunk. */
  get isAsked(): boolean {
    return this.#pull !== undefined;
  }

  /** Kind of attempt that may follow one that failed now: half a stream is never begun anew. */
  get continuation(): 'any' | 'resumes' | 'none' {
    if (this.#chunks === 0) return 'any';
    return this.#resume === undefined ? 'none' : 'resumes';
  }

  /** A chunk that was taken, as bytes for a client. */
  bytesOf(chunk: C): Uint8Array {
    if (chunk instanceof Uint8Array) return chunk;
    const text = this.#written?.(chunk) ?? (typeof chunk === 'string' ? chunk : `${JSON.stringify(chunk)}\n`);
    return new TextEncoder().encode(text);
  }

  /** The input of the next attempt. What the reader's own function throws is the failure of the attempt. */
  inputOf(input: I): I {
    const resume = this.#resume;
    return resume === undefined || this.#chunks === 0 ? input : resume(this.#lastChunk as C, input, this.#chunks);
  }

  /** Reads what an attempt answered with to its end. */
  async read(answer: unknown, attempt: StreamedAttempt): Promise<StreamEnd> {
    const { signal } = attempt;
    const value = await answer;
    if (isResponse(value) && !value.ok) throw refusedBy(value);
    const source = openChunkSource<C>(value);
    if (source === undefined) throw new TypeError('The operation answered with no stream');
    this.#written = source.written;
    const reading = new Reading(this, source, attempt);
    if (signal.aborted) {
      // It was given up before its stream was there.
      await reading.cancel(signal.reason);
      throw signal.reason;
    }
    signal.addEventListener('abort', () => reading.giveUp(signal.reason), { once: true });
    this.#reading = reading;
    if (this.#pull === undefined) attempt.rest();
    else reading.ask();
    return reading.ended;
  }

  /** The reader asks for the next chunk, one at a time. */
  pull(): Promise<IteratorResult<C, undefined>> {
    const chunk = new Promise<IteratorResult<C, undefined>>(keepPull);
    this.#pull = keptPull as Pull<C>;
    if (this.#outcome !== undefined) this.settled(this.#outcome);
    else if (this.#reading !== undefined) {
      this.#reading.attempt.resume();
      this.#reading.ask();
    }
    return chunk;
  }

  /**
   * The reader leaves. A stream of which it has everything is read to its end, as if it had asked once more.
   * @returns whether it is.
   */
  finish(): boolean {
    if (this.#reading?.isComplete !== true) return false;
    // Nobody waits for how that ends.
    if (this.#pull === undefined) this.pull().catch(() => undefined);
    return true;
  }

  /** The call has ended: what waits for a chunk learns it, and what asks from now on. */
  settled(outcome: Outcome<StreamEnd>): void {
    this.#outcome = outcome;
    const pull = this.#pull;
    this.#pull = undefined;
    if (pull === undefined) return;
    if (outcome.ok || outcome.failure.reason === 'reader_left') pull.resolve({ done: true, value: undefined });
    else pull.reject(new IntegrationError(outcome.failure));
  }

  /** A chunk of the attempt that is under way, which the reader waits for. */
  took(reading: Reading<I, C>, chunk: C): void {
    const pull = this.#pull;
    if (reading !== this.#reading || pull === undefined) return;
    this.#pull = undefined;
    this.#lastChunk = chunk;
    reading.attempt.rest();
    if (this.#chunks++ === 0) this.#firstChunkMs = Math.round(reading.attempt.firstChunkCame());
    pull.resolve({ done: false, value: chunk });
  }

  /** The attempt that was under way reads no more. */
  ended(reading: Reading<I, C>): StreamEnd {
    if (this.#reading === reading) this.#reading = undefined;
    return this.end;
  }

  get end(): StreamEnd {
    return { chunks: this.#chunks, firstChunkMs: this.#firstChunkMs };
  }
}

/** Attempt that reads its source. */
class Reading<I, C> {
  /** Settles when the source has ended, broken, or let go. */
  readonly ended: Promise<StreamEnd>;
  readonly attempt: StreamedAttempt;
  readonly #relay: ChunkRelay<I, C>;
  readonly #source: ChunkSource<C>;
  #resolve!: (end: StreamEnd) => void;
  #reject!: (error: unknown) => void;

  constructor(relay: ChunkRelay<I, C>, source: ChunkSource<C>, attempt: StreamedAttempt) {
    this.#relay = relay;
    this.#source = source;
    this.attempt = attempt;
    // All of the answer is there: no limit counts the time that its connection takes.
    source.onClosing = () => attempt.rest();
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isComplete(): boolean {
    return this.#source.isComplete === true;
  }

  ask(): void {
    try {
      const next = this.#source.next();
      // A native promise is given back as itself.
      if ('then' in next) Promise.resolve(next).then(this.#took, this.#failed);
      else this.#took(next);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The attempt was given up: what it reads is told to end, and its work ends when that has. */
  giveUp(reason: unknown): void {
    this.#relay.ended(this);
    void this.cancel(reason).then(() => this.#reject(reason));
  }

  async cancel(reason: unknown): Promise<void> {
    try {
      await this.#source.cancel(reason);
    } catch {
      // It is of no use any more, however it ends.
    }
  }

  // Bound once for all chunks.
  readonly #took = (result: IteratorResult<C, unknown>): void => {
    if (result.done === true) this.#resolve(this.#relay.ended(this));
    else this.#relay.took(this, result.value);
  };

  readonly #failed = (error: unknown): void => {
    this.#relay.ended(this);
    this.#reject(error);
  };
}
