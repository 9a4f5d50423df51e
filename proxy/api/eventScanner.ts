import { CallScan } from './callScan.ts';
import { RepeatedText } from '../../src/policy/spinning/face.ts';
import { isModelContent, wordsIn } from '../../src/streams/face.ts';
import type { Dialect } from './route.ts';

/**
 * Meaning of an event. `sign`: the other side lives. `content`: something came of the answer. `last`: it is complete. `error`: it says that it failed. The
 * reason of the end (`finish_reason`) is content, after which only figures follow.
 */
type EventMeaning = 'sign' | 'content' | 'last' | 'error';

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
const brace = 0x7b;
/** An error in place of an event, whose data has no type. */
const errorHead = /^\s*\{\s*"error"\s*:\s*(?!null)\S/;
/** The reason for which an answer ends, in the JSON of an event: within a text its quotes would be escaped. Some APIs say "" with each event before it. */
const finishes: Readonly<Record<Dialect, RegExp | undefined>> = {
  messages: /"stop_reason"\s*:\s*"(?!")/,
  responses: undefined,
  chat: /"finish_reason"\s*:\s*"(?!error"|")/,
  gemini: /"finishReason"\s*:\s*"(?!FINISH_REASON_UNSPECIFIED|")/,
};
/** More of an answer, in the JSON of an event. */
const goesOn = /"(?:text|content)"\s*:\s*"[^"]|"(?:functionCall|tool_calls)"/;
/** So much of a line is looked at where its event has no name, in bytes. */
const lineHead = 256;
/** So much of a line is looked at for what it says, in bytes: a longer one says something. */
const mostRead = 20_000;
/** So much is kept of a line that is cut by a chunk, and of what an error says, in bytes. */
const mostKept = 64 * 1024;
const fewKept = 256;

/**
 * Watches the bytes of a stream of events go by and tells what the events mean; keeps no more of them than the beginning of a line, and what
 * an error says. The bytes themselves are passed by its user. A chunk may end anywhere; so may a line, by LF, CR or both.
 */
export class EventScanner {
  /** Events so far that are more than a sign of life. */
  content = 0;
  /** Number of them in which something is said: no frame of an answer, no empty delta. */
  said = 0;
  /** The event after which the answer is complete has come. */
  isComplete = false;
  /** An event has come that says that the answer failed. */
  hasFailed = false;
  /** Length of the passage that its text is over and over, once it is. */
  repeats: number | undefined = undefined;
  readonly #text = new RepeatedText();
  readonly #dialect: Dialect;
  readonly #calls: CallScan;
  /** Data of the event that failed the answer, as far as it is kept. */
  errorData = '';
  /** The name of that event. */
  errorName = '';
  #name: string | undefined = undefined;
  #dataHead: string | undefined = undefined;
  #hasData = false;
  /** Beginning of a line that is not complete yet. */
  #begun = Buffer.alloc(fewKept);
  #begunBytes = 0;
  #isFirst = true;
  /** The last byte was a CR: an LF after it belongs to the same end of a line. */
  #wasReturn = false;
  /** True where events have no names and this one is an error. */
  #isError = false;
  /** True where this event says something. */
  #says = false;
  /** Choices that have not been given the reason of their end. */
  #unfinished: number;
  /** More has come after the reason of its end: some APIs say one with each event, of which nobody knows the last. */
  #wentOn = false;

  /** @param choices - how many answers to one request the stream holds. */
  constructor(dialect: Dialect, choices = 1) {
    this.#dialect = dialect;
    this.#calls = new CallScan(dialect);
    this.#unfinished = choices;
  }

  /** True once the reason of its end has come: all of the answer is there, also where a last event is to follow. */
  get isFinished(): boolean {
    return this.#unfinished <= 0;
  }

  /** True once the last event has come, well or not. */
  get isOver(): boolean {
    return this.isComplete || this.hasFailed;
  }

  /** Tells whether the call of a tool has come whole. */
  get hasCall(): boolean {
    return this.#calls.hasWhole;
  }

  /** Indices of calls that have no arguments yet. */
  get bareCalls(): readonly unknown[] {
    return this.#calls.bare;
  }

  /** Tells whether the end of the body is the end of an answer, and not of a connection. */
  get mayEnd(): boolean {
    return this.isOver || this.isFinished;
  }

  /** Tells whether nothing is lost with a connection that breaks now. */
  get mayBreak(): boolean {
    return this.isOver || (this.isFinished && !this.#wentOn);
  }

  /** True where an event of ours can follow: no data of an event has begun that would be taken for whole. */
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
      this.#says = false;
      return;
    }
    const first = bytes[start];
    if (first === letterE) {
      const line = bytes.toString('latin1', start, Math.min(end, start + lineHead));
      if (line.startsWith('event:')) this.#name = line.slice(line[6] === ' ' ? 7 : 6);
    } else if (first === letterD && end > start + 4 && bytes[start + 4] === 0x3a) {
      this.#hasData = true;
      const data = bytes.toString('utf8', start + 5, Math.min(end, start + mostRead));
      const whole = end <= start + mostRead ? data : bytes.toString('utf8', start + 5, end);
      this.#dataHead ??= data.slice(0, lineHead);
      const words = wordsIn(this.#name, data);
      this.repeats ??= this.#text.push(words);
      // All of it is read only where it has no words.
      this.#says ||= words !== '' || isModelContent(this.#name, data);
      if (this.#dialect === 'chat' || this.#dialect === 'gemini') this.#plainData(whole);
      else if (this.#eventName === 'message_delta') this.#finish(whole);
      if (!this.hasFailed && this.errorData.length < mostKept && this.#meaning() === 'error')
        this.errorData += `${bytes.toString('utf8', start + 5, Math.min(end, start + mostKept))}\n`;
    } else if (this.#dialect === 'gemini' && (first === brace || this.hasFailed)) {
      // An error stands there as it is, in place of events.
      this.hasFailed = true;
      if (this.errorData.length < mostKept) this.errorData += `${bytes.toString('utf8', start, end)}\n`;
    }
  }

  /** Takes the data of events without names. */
  #plainData(data: string): void {
    // A key of the JSON: within a text its quotes would be escaped.
    this.#isError ||= data.includes('"error":{') || data.includes('"error": {');
    if (this.isFinished) this.#wentOn ||= goesOn.test(data);
    if (data.includes('"finish')) this.#finish(data);
    this.#calls.data(data);
  }

  #finish(data: string): void {
    if (finishes[this.#dialect]?.test(data) === true) this.#unfinished--;
  }

  #event(): void {
    switch (this.#meaning()) {
      case 'sign':
        return;
      case 'content':
        this.content++;
        if (this.#says) this.said++;
        this.#calls.event(this.#eventName, this.#dataHead ?? '');
        return;
      case 'last':
        this.isComplete = true;
        return;
      case 'error':
        this.hasFailed = true;
        this.errorName = this.#eventName;
    }
  }

  #meaning(): EventMeaning {
    const head = this.#dataHead ?? '';
    if (this.#dialect === 'chat' || this.#dialect === 'gemini') {
      if (/^\s*\[DONE\]/.test(head)) return 'last';
      return this.#isError || errorHead.test(head) ? 'error' : 'content';
    }
    if (this.#name === undefined && errorHead.test(head)) return 'error';
    return meanings[this.#dialect].get(this.#eventName) ?? 'content';
  }

  get #eventName(): string {
    return this.#name ?? /"type"\s*:\s*"([\w.]+)"/.exec(this.#dataHead ?? '')?.[1] ?? '';
  }
}

function isByteOrderMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}
