import type { Dialect } from './route.ts';

/**
 * What an event means. `sign`: the other side lives. `content`: something came of the answer. `last`: it is complete. `error`: it says that it
 * failed.
 */
export type EventMeaning = 'sign' | 'content' | 'last' | 'error';

const meanings: Readonly<Record<'messages' | 'responses', ReadonlyMap<string, EventMeaning>>> = {
  messages: new Map([
    ['ping', 'sign'],
    ['message_stop', 'last'],
    ['error', 'error'],
  ]),
  responses: new Map([
    ['ping', 'sign'],
    ['keepalive', 'sign'],
    ['response.created', 'sign'],
    ['response.queued', 'sign'],
    ['response.in_progress', 'sign'],
    ['response.completed', 'last'],
    ['response.incomplete', 'last'],
    ['response.cancelled', 'last'],
    ['response.failed', 'error'],
    ['error', 'error'],
  ]),
};

const newline = 0x0a;
const carriageReturn = 0x0d;
const letterD = 0x64;
const letterE = 0x65;
/** So much of a line is looked at where its event has no name, in bytes. */
const lineHead = 128;
/** So much is kept of a line that is cut by a chunk, and of what an error says, in bytes. */
const mostKept = 64 * 1024;
const fewKept = 256;

/**
 * Watches the bytes of a stream of events go by and tells what the events mean; keeps no more of them than the beginning of a line, and what
 * an error says. The bytes themselves are passed by its user. A chunk may end anywhere; so may a line, by LF, CR or both.
 */
export class EventScanner {
  /** Events of content so far. */
  content = 0;
  /** The event after which the answer is complete has come. */
  isComplete = false;
  /** An event has come that says that the answer failed. */
  hasFailed = false;
  readonly #dialect: Dialect;
  /** What the event says that failed the answer: its data, as far as it is kept. */
  errorData = '';
  #name: string | undefined = undefined;
  #dataHead: string | undefined = undefined;
  #hasData = false;
  /** Of a line that is not complete yet. */
  #begun = Buffer.alloc(fewKept);
  #begunBytes = 0;
  #isFirst = true;
  /** The last byte was a CR: an LF after it belongs to the same end of a line. */
  #wasReturn = false;
  /** Of chat completions: the event is an error. */
  #isError = false;
  /** Of chat completions: a choice has ended, which some servers let be the last word. */
  #hasFinish = false;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Whether the last event has come, well or not. */
  get isOver(): boolean {
    return this.isComplete || this.hasFailed;
  }

  /** Whether the end of the body is the end of an answer, and not of a connection. */
  get mayEnd(): boolean {
    return this.isOver || this.#hasFinish;
  }

  /** Whether an event of ours can follow: no data of an event has begun that would be taken for whole. */
  get isBetweenEvents(): boolean {
    return this.#begunBytes === 0 || this.#begun[0] !== letterD;
  }

  push(chunk: Buffer): void {
    let at = 0;
    let nextReturn = chunk.indexOf(carriageReturn, at);
    while (at < chunk.length) {
      if (this.#wasReturn) {
        this.#wasReturn = false;
        if (chunk[at] === newline) {
          at++;
          continue;
        }
      }
      const feed = chunk.indexOf(newline, at);
      if (nextReturn >= 0 && nextReturn < at) nextReturn = chunk.indexOf(carriageReturn, at);
      this.#wasReturn = nextReturn >= 0 && (feed < 0 || nextReturn < feed);
      const end = this.#wasReturn ? nextReturn : feed;
      if (end < 0) {
        this.#begin(chunk, at);
        return;
      }
      if (this.#begunBytes > 0) {
        this.#begin(chunk.subarray(0, end), at);
        const begun = this.#begun;
        const length = Math.min(this.#begunBytes, mostKept);
        this.#begunBytes = 0;
        this.#line(begun, 0, length);
        if (begun.length > fewKept) this.#begun = Buffer.alloc(fewKept);
      } else this.#line(chunk, at, end);
      at = end + 1;
    }
  }

  #begin(chunk: Buffer, at: number): void {
    const bytes = this.#begunBytes + chunk.length - at;
    if (bytes > this.#begun.length && this.#begun.length < mostKept) {
      const larger = Buffer.alloc(Math.min(mostKept, Math.max(bytes, 2 * this.#begun.length)));
      this.#begun.copy(larger, 0, 0, this.#begunBytes);
      this.#begun = larger;
    }
    if (this.#begunBytes < mostKept) chunk.copy(this.#begun, this.#begunBytes, at);
    this.#begunBytes = bytes;
  }

  #line(bytes: Buffer, begin: number, end: number): void {
    const start = this.#isFirst && isByteOrderMark(bytes, begin) ? begin + 3 : begin;
    this.#isFirst = false;
    if (end === start) {
      if (this.#hasData) this.#event();
      this.#name = undefined;
      this.#dataHead = undefined;
      this.#hasData = false;
      this.#isError = false;
      return;
    }
    const first = bytes[start];
    if (first === letterE) {
      const line = bytes.toString('latin1', start, Math.min(end, start + lineHead));
      if (line.startsWith('event:')) this.#name = line.slice(line[6] === ' ' ? 7 : 6);
    } else if (first === letterD && bytes[start + 4] === 0x3a) {
      this.#hasData = true;
      if (this.#dialect === 'chat') this.#chatData(bytes, start + 5, end);
      else if (this.#name === undefined)
        this.#dataHead ??= bytes.toString('latin1', start + 5, Math.min(end, start + lineHead));
      if (!this.hasFailed && this.errorData.length < mostKept && this.#meaning() === 'error')
        this.errorData += `${bytes.toString('utf8', start + 5, Math.min(end, start + mostKept))}\n`;
    }
  }

  #chatData(bytes: Buffer, start: number, end: number): void {
    this.#dataHead ??= bytes.toString('latin1', start, Math.min(end, start + 16)).trimStart();
    const data = bytes.subarray(start, end);
    // A key of the JSON: within a text its quotes would be escaped.
    this.#isError ||= data.includes('"error":{') || data.includes('"error": {');
    this.#hasFinish ||= data.includes('"finish_reason":"') || data.includes('"finish_reason": "');
  }

  #event(): void {
    switch (this.#meaning()) {
      case 'sign':
        return;
      case 'content':
        this.content++;
        return;
      case 'last':
        this.isComplete = true;
        return;
      case 'error':
        this.hasFailed = true;
    }
  }

  #meaning(): EventMeaning {
    const head = this.#dataHead ?? '';
    if (this.#dialect === 'chat') {
      if (head.startsWith('[DONE]')) return 'last';
      return this.#isError || head.startsWith('{"error"') ? 'error' : 'content';
    }
    const name = this.#name ?? /"type"\s*:\s*"([\w.]+)"/.exec(head)?.[1] ?? '';
    return meanings[this.#dialect].get(name) ?? 'content';
  }
}

function isByteOrderMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}
