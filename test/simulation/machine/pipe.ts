import { Readable, Writable } from 'node:stream';

/** Bytes that a pipe holds before its writer has to wait. */
const capacity = 65_536;

/** What a parent writes to a process: its stdin. What is written after the other end is gone breaks the pipe. */
export class InputPipe extends Writable {
  readonly #take: (chunk: Buffer) => void;
  readonly #ended: () => void;
  #isBroken = false;
  /** The process reads nothing for now: what it was written waits, and its writer once that is much. */
  #isHeld = false;
  #held: Buffer[] = [];
  #waiting: (() => void) | undefined;

  constructor(take: (chunk: Buffer) => void, ended: () => void) {
    super({ highWaterMark: 16_384 });
    this.#take = take;
    this.#ended = ended;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#isBroken) {
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }));
      return;
    }
    if (this.#isHeld) {
      this.#held.push(chunk);
      if (this.#held.reduce((bytes, { length }) => bytes + length, 0) > capacity) this.#waiting = done;
      else done();
      return;
    }
    this.#take(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#ended();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#ended();
    done(error);
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) return;
    for (const chunk of this.#held.splice(0)) this.#take(chunk);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  /** The process that read is gone. */
  break(): void {
    this.#isBroken = true;
    this.#held = [];
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}

/** What a process writes to its parent: stdout or stderr. It ends when nobody holds its other end any more. */
export class OutputPipe extends Readable {
  #holders = 1;

  constructor() {
    super({ highWaterMark: capacity });
  }

  override _read(): void {}

  /** Another process inherits it. */
  share(): void {
    this.#holders++;
  }

  /** A process that held it is gone, or closed it. */
  leave(): void {
    if (--this.#holders === 0 && !this.destroyed) this.push(null);
  }
}
