import type { ClientRequest, IncomingMessage } from 'node:http';
import type { AttemptContext } from '../../src/calls/face.ts';
import type { Timer } from '../../src/policy/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { AttemptError, type FailureFacts, readString } from '../../src/policy/failures/face.ts';
import { EncodedBody, type StreamedAttempt, resetError, wasReset } from '../../src/streams/face.ts';
import { type AnswerFigures, AnswerReader } from './answerFigures.ts';
import { ClientWriter } from './clientWriter.ts';
import { closingWords } from './streamEnd.ts';
import { ContentWatch, type Silence } from './contentWatch.ts';
import { EventScanner } from './eventScanner.ts';
import { collectRefusal, failureOfAnswer, failureOfEvent } from './failedAnswer.ts';
import type { ForwardedRequest } from './forwardedRequest.ts';
import { OpenJson } from './openJson.ts';
import { answerHeaders, requestHeaders, requestUrl } from './passedHeaders.ts';

/** A body that is open for so long after the last event is ended, in ms: some clients wait for its end. */
const openAfterLastMs = 2000;
/** The same after the reason of its end: figures and the last event may follow. */
const openAfterFinishMs = 10_000;

/** Facts about an answer once it has passed; its figures where the host asks for telemetry. */
export interface ForwardedAnswer extends AnswerFigures {
  readonly status: number | undefined;
}

/** Attempt of a request: its way to the upstream, and the way back. */
export class Forwarding {
  /** Settles with what the answer says of itself when all of it has been handed to the client, or the attempt has failed. */
  readonly ended: Promise<ForwardedAnswer>;
  readonly #exchange: ForwardedRequest;
  readonly #attempt: StreamedAttempt;
  readonly #touch: () => void;
  readonly #learn: AttemptContext['rateLimit'];
  readonly #trace: AttemptContext['traceContext'];
  #request: ClientRequest | undefined = undefined;
  #answer: IncomingMessage | undefined = undefined;
  #scanner: EventScanner | undefined = undefined;
  /** Body of a compressed answer: it passes unread, and is looked at to know whether all of it came. */
  #encoded: EncodedBody | undefined = undefined;
  /** Reader of JSON that ends with its connection. */
  #openJson: OpenJson | undefined = undefined;
  readonly #watch: ContentWatch;
  readonly #writer: ClientWriter;
  #lastTimer: Timer | undefined = undefined;
  /** Failure of the answer in the words of the upstream, which pass to the client as they came. */
  #failure: FailureFacts | undefined = undefined;
  #isOver = false;
  #hasRepeated = false;
  /** True where the connection that the body ended with was reset, where Node tells that as an end. */
  #wasReset = false;
  /** Reader, where the host asks for telemetry, or there is a budget. */
  #reader: AnswerReader | undefined = undefined;
  #resolve!: (answer: ForwardedAnswer) => void;
  #reject!: (error: unknown) => void;

  constructor(
    exchange: ForwardedRequest,
    attempt: StreamedAttempt,
    { touch, rateLimit, traceContext }: Pick<AttemptContext, 'touch' | 'rateLimit' | 'traceContext'>,
  ) {
    this.#exchange = exchange;
    this.#attempt = attempt;
    this.#touch = touch;
    this.#learn = rateLimit;
    this.#trace = traceContext;
    this.#watch = new ContentWatch(exchange.clock);
    this.#writer = new ClientWriter(exchange.asked.response, () => this.#rest());
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** True where an event of ours may follow all that the client got. */
  get isBetweenEvents(): boolean {
    return this.#scanner?.isBetweenEvents ?? false;
  }

  /** That of an answer that is read; undefined of any other. */
  get silence(): Silence | undefined {
    return this.#scanner === undefined ? undefined : this.#watch.silence(this.#exchange.contentLimits);
  }

  /** What the answer has said of itself by now. */
  get figures(): AnswerFigures {
    return this.#reader?.figures ?? {};
  }

  get hasCall(): boolean {
    return this.#scanner?.hasCall ?? false;
  }

  get bareCalls(): readonly unknown[] {
    return this.#scanner?.bareCalls ?? [];
  }

  /** Tells whether all of the answer has reached the client, the end of its body apart. */
  get isOver(): boolean {
    return this.#scanner?.mayBreak ?? false;
  }

  /** Returns the rest that the client is to read of an answer that is over; `isBroken`: its connection broke, or fell silent. */
  lastOf(isBroken: boolean): string {
    const scanner = this.#scanner;
    const { client, route } = this.#exchange.asked;
    if (scanner === undefined || route.dialect === undefined) return '';
    const failed = (): FailureFacts => this.#failure ?? this.#saidBy(scanner, '');
    return closingWords(scanner, { client, dialect: route.dialect, isBroken, failed });
  }

  /** True where its end is decided here. */
  get #isRead(): boolean {
    return this.#scanner !== undefined || this.#encoded !== undefined;
  }

  send(isFresh = false): void {
    const { asked, upstream } = this.#exchange;
    const { request: received, body, route } = asked;
    const bytes = body.kind === 'whole' ? body.bytes : undefined;
    const headers = requestHeaders(received.rawHeaders, received.headers, {
      host: upstream.host,
      bodyBytes: bytes?.length,
      isRead: route.dialect !== undefined,
      key: upstream.key,
      trace: this.#trace,
    });
    const { method = 'GET', url = '/' } = received;
    const request = upstream.request({ method, url: requestUrl(url, upstream.key), headers }, isFresh);
    this.#request = request;
    request.on('response', (answer) => this.#answered(answer));
    request.on('error', (error) => this.#broke(request, error));
    if (bytes !== undefined) request.end(bytes);
    else if (body.kind === 'passing') {
      for (const chunk of body.head) request.write(chunk);
      // While the client still sends, nobody can answer.
      body.rest.on('data', this.#touch).on('error', () => undefined);
      body.rest.pipe(request);
    }
  }

  /** Nobody waits for the attempt any more. */
  giveUp(facts: FailureFacts): void {
    this.#fail(facts);
  }

  #answered(answer: IncomingMessage): void {
    if (this.#isOver) {
      answer.destroy();
      return;
    }
    this.#touch();
    this.#exchange.upstream.reached();
    this.#answer = answer;
    // After all of the answer a connection that breaks takes nothing with it.
    answer.on('error', (error) => (this.isOver ? this.#complete(true) : this.#failWith(error)));
    if (endsWithConnection(answer)) {
      const { socket } = answer;
      const note = (): void => {
        this.#wasReset = wasReset(socket);
      };
      // Before Node ends the socket in turn. After an answer that has no body the connection goes on.
      socket.prependOnceListener('end', note);
      answer.once('close', () => socket.off('end', note));
    }
    const { statusCode = 502 } = answer;
    const exchange = this.#exchange;
    this.#learn(answer.headers);
    if (statusCode >= 400) {
      exchange.settings.stage = 'body';
      this.#collect(answer, statusCode);
      return;
    }
    const { choices, route } = exchange.asked;
    const { dialect } = route;
    const isStream = /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '');
    exchange.settings.stage = isStream ? 'events' : 'body';
    const encoding = answer.headers['content-encoding'];
    const scanner = isStream && dialect !== undefined ? new EventScanner(dialect, choices) : undefined;
    if (encoding === undefined) this.#scanner = scanner;
    else if (scanner !== undefined || endsWithConnection(answer))
      this.#encoded = EncodedBody.of(encoding, (chunk) => scanner?.push(chunk));
    if (encoding === undefined && endsWithConnection(answer) && isJson(answer)) this.#openJson = new OpenJson();
    this.#watch.begin();
    if ((this.#trace !== undefined || exchange.asked.isCounted) && dialect !== undefined && encoding === undefined)
      this.#reader = new AnswerReader(isStream);
    answer.on('data', this.#took);
    const encoded = this.#encoded;
    answer.once('end', () => {
      if (encoded === undefined) this.#complete(false);
      // Nobody knows whether a body that cannot be read is whole.
      else
        void encoded
          .end()
          .then((error) => this.#endEncoded(error?.code !== 'Z_BUF_ERROR' && scanner?.mayEnd !== false));
    });
  }

  #endEncoded(isWhole: boolean): void {
    if (isWhole) this.#complete(false);
    else this.#fail(lost(endedEarly));
  }

  // Bound once for all chunks.
  readonly #took = (chunk: Buffer): void => {
    if (this.#isOver) return;
    this.#touch();
    this.#encoded?.push(chunk);
    this.#openJson?.push(chunk);
    this.#reader?.push(chunk);
    const exchange = this.#exchange;
    const scanner = this.#scanner;
    if (scanner !== undefined) {
      const { isOver: wasOver, mayBreak: couldBreak } = scanner;
      scanner.push(chunk);
      if (!exchange.isCommitted && !this.#mayPass(scanner, chunk)) return;
      if (this.#isWithoutContent(scanner) || this.#isEndedAsRepetition(scanner)) return;
      if (scanner.isOver && !wasOver) this.#awaitEnd(openAfterLastMs);
      else if (scanner.mayBreak && !couldBreak) this.#awaitEnd(openAfterFinishMs);
      else if (!scanner.mayBreak && couldBreak) this.#awaitMore();
    }
    if (exchange.isCommitted || this.#commit()) this.#writer.pass(chunk);
  };

  /** Tells whether the first of an answer may go to the client, after which there is no other attempt. */
  #mayPass(scanner: EventScanner, chunk: Buffer): boolean {
    if (scanner.hasFailed && scanner.content === 0 && this.#failedAtOnce(scanner)) return false;
    return this.#watch.isEnough(scanner, chunk, this.#exchange.hasWaitedLong);
  }

  /** A stream that begins with an error is an answer that says no. @returns whether another attempt may follow. */
  #failedAtOnce(scanner: EventScanner): boolean {
    const facts = this.#saidBy(scanner, 'The stream began with an error');
    if (this.#exchange.mayFollow(facts)) this.#fail(facts);
    else this.#failure = facts;
    return this.#isOver;
  }

  /** Gives the facts of the error event of a stream. */
  #saidBy({ errorData }: EventScanner, message: string): FailureFacts {
    const { clock, maxPauseMs } = this.#exchange;
    return this.#exchange.judged(failureOfEvent(errorData, message, clock.wallNow(), maxPauseMs));
  }

  /** Ends a stream that says that it lives, and nothing else for too long. */
  #isWithoutContent(scanner: EventScanner): boolean {
    const { contentLimits, upstream } = this.#exchange;
    const passedMs = this.#watch.passedLimit(contentLimits, scanner);
    if (passedMs === undefined) return false;
    const message = `${upstream.host} sent signs of life alone for ${formatDuration(passedMs)}`;
    this.#fail({ kind: 'timeout', reason: 'idle_timeout', message, outcome: 'unknown', breaker: 'ignored' });
    return true;
  }

  /** Tells of a text that repeats itself, once; by option it ends there. */
  #isEndedAsRepetition({ repeats }: EventScanner): boolean {
    if (repeats === undefined || this.#hasRepeated) return false;
    this.#hasRepeated = true;
    const failure = this.#exchange.repeatsItself(repeats);
    if (failure !== undefined) this.#fail(failure);
    return this.#isOver;
  }

  /** The first of the answer goes to the client. @returns false where Node can write no such answer. */
  #commit(): boolean {
    const answer = this.#answer;
    if (answer === undefined) return false;
    try {
      this.#exchange.commit(answer, answerHeaders(answer.rawHeaders, answer.headers, this.#isRead));
    } catch (error) {
      this.#failWith(error);
      return false;
    }
    this.#attempt.firstChunkCame();
    for (const chunk of this.#watch.take()) this.#writer.pass(chunk);
    return true;
  }

  /** The client is slow: nothing more is read for it, and it is not the upstream that is waited for. */
  #rest(): void {
    if (this.#isOver) return;
    const { response } = this.#exchange.asked;
    this.#answer?.pause();
    this.#attempt.rest();
    response.once('drain', () => {
      if (this.#isOver) return;
      this.#attempt.resume();
      this.#watch.begin();
      this.#answer?.resume();
    });
  }

  /** All of the answer has come: its body ends soon, or is ended. */
  #awaitEnd(limitMs: number): void {
    const { clock, settings, bytesMs } = this.#exchange;
    // Its silence is no failure any more.
    settings.stage = 'body';
    clock.clearTimeout(this.#lastTimer);
    this.#lastTimer = clock.setTimeout(
      () => {
        this.#request?.destroy();
        this.#complete(true);
      },
      Math.min(limitMs, bytesMs),
    );
  }

  /** It was not all of the answer. */
  #awaitMore(): void {
    const { clock, settings } = this.#exchange;
    settings.stage = 'events';
    clock.clearTimeout(this.#lastTimer);
  }

  /** @param isBroken - in place of an end of the body. */
  #complete(isBroken: boolean): void {
    if (this.#isOver) return;
    const exchange = this.#exchange;
    if (this.#wasReset && !this.isOver) {
      this.#failWith(resetError());
      return;
    }
    if (this.#scanner !== undefined && !this.#scanner.mayEnd) {
      this.#fail(lost('The stream ended before its last event'));
      return;
    }
    if (this.#openJson?.isOpen === true) {
      this.#fail(lost(endedEarly));
      return;
    }
    if (!exchange.isCommitted && !this.#commit()) return;
    this.#over();
    this.#writer.flush();
    exchange.isDone = true;
    exchange.asked.response.end(this.lastOf(isBroken || this.#wasReset));
    if (this.#scanner?.hasFailed === true) {
      const failure = this.#failure ?? {
        ...this.#saidBy(this.#scanner, 'The stream broke with an error of the upstream'),
        outcome: 'unknown',
      };
      exchange.passage?.ended(failure);
      this.#reject(new AttemptError(failure));
    } else {
      exchange.passage?.ended(undefined);
      this.#resolve({ status: this.#answer?.statusCode, ...this.figures });
    }
  }

  /** Reads an answer that says no: it is judged as a whole, and passed when no other attempt may follow. */
  #collect(answer: IncomingMessage, status: number): void {
    const exchange = this.#exchange;
    collectRefusal(answer, {
      goesOn: () => !this.#isOver && !exchange.isCommitted,
      touch: this.#touch,
      pass: this.#took,
      tooLong: (chunks) => {
        this.#watch.hold(chunks);
        this.#commit();
      },
      passed: () => this.#complete(false),
      read: (body) => {
        const { headers, rawHeaders, statusMessage = '' } = answer;
        const at = exchange.clock.now();
        exchange.lastAnswer = { status, statusMessage, headers: answerHeaders(rawHeaders, headers, false), body, at };
        const said = { status, headers, body: isText(answer) ? body.toString('utf8') : '' };
        this.#fail(exchange.judged(failureOfAnswer(said, exchange.clock.wallNow(), exchange.maxPauseMs)));
      },
    });
  }

  /** The connection broke before there was an answer. */
  #broke(request: ClientRequest, error: Error): void {
    if (this.#isOver || request !== this.#request) return;
    const { body, route } = this.#exchange.asked;
    const code = readString(error, 'code');
    const wasClosed = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
    // The upstream closed a connection that was kept, while the request was on its way: nobody read it.
    const mayResend = this.#answer === undefined && body.kind === 'whole' && route.effect !== 'mutating';
    if (wasClosed && mayResend) this.send(true);
    // After all of the answer it takes nothing with it.
    else if (this.isOver) this.#complete(true);
    else this.#failWith(error);
  }

  #failWith(error: unknown): void {
    if (!this.#isOver) this.#fail(this.#exchange.judgedError(error));
  }

  #fail(facts: FailureFacts): void {
    if (this.#isOver) return;
    this.#over();
    this.#writer.flush();
    this.#watch.take();
    this.#request?.destroy();
    this.#exchange.passage?.ended(facts);
    this.#reject(new AttemptError(facts));
  }

  #over(): void {
    this.#isOver = true;
    this.#encoded?.drop();
    this.#exchange.clock.clearTimeout(this.#lastTimer);
  }
}

const endedEarly = 'The answer ended before all of it was there';

function lost(message: string): FailureFacts {
  return { kind: 'transient', reason: 'connection_lost', message, outcome: 'unknown', breaker: 'ignored' };
}

/** Tells whether nothing but the end of the connection tells where a body ends: half of one looks like a whole one. */
function endsWithConnection({ headers }: IncomingMessage): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '');
}

function isText({ headers }: IncomingMessage): boolean {
  return headers['content-encoding'] === undefined;
}
