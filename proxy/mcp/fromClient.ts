import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { errorAnswer, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpMessage,
  type McpNotification,
  type McpRequest,
  idKey,
  messagesOf,
  readMessage,
} from '../../src/protocol/mcp/face.ts';
import { idIn } from '../wire/mcpClientPipe.ts';
import { Misfits } from '../wire/misfits.ts';
import { withRequestId } from '../wire/rewrite.ts';
import { errorAnswerOf, resultAnswer } from '../wire/syntheticAnswer.ts';
import type { ControlRequests } from './controlRequests.ts';
import type { ClientCalls } from './clientCalls.ts';
import type { Elicitations } from './elicitations.ts';
import type { Line } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { ServerRequests } from './serverRequests.ts';
import type { ToolView } from './toolView.ts';
import type { Question } from './wire.ts';

interface FromClientTargets {
  readonly calls: ClientCalls;
  readonly controlRequests: ControlRequests;
  readonly requests: ServerRequests;
  readonly elicitations: Elicitations;
  readonly tools: ToolView;
  readonly wantServer: () => void;
  /** Answers a call that a rule keeps from the server. */
  readonly refuse: (request: McpRequest, facts: FailureFacts) => void;
}

/** Longest message of the client, in bytes; that of the server is the same. */
export const maxLineBytes = 64 * 1024 * 1024;

/** Notifications that wait for a server; of more the oldest are dropped. */
const mostHeld = 100;

/** A space between two words of JSON, and an end of the line to some servers: they would read a message there that nobody here has judged. */
const innerReturns = /\r(?!\n)/g;

/** Handling of the lines the client writes. */
export class FromClient {
  readonly #scope: ProxyScope;
  readonly #to: FromClientTargets;
  readonly #misfits: Misfits;
  #held: Line[] = [];
  /** Among those held: that the client is ready. */
  #heldInitialized: Line | undefined = undefined;

  constructor(scope: ProxyScope, to: FromClientTargets) {
    this.#scope = scope;
    this.#to = to;
    const { outlet, voice } = scope;
    this.#misfits = new Misfits(
      (line) => void outlet.write(line),
      (line) => voice.say(line),
    );
  }

  /** Takes one line, its end included. */
  take(given: Buffer): void {
    const written = given.toString('utf8');
    const text = written.includes('\r') ? written.replaceAll(innerReturns, ' ') : written;
    const line = text === written ? given : Buffer.from(text);
    const message = readMessage(text);
    const { outlet } = this.#scope;
    if (message.kind === 'garbage') {
      if (text.trim() !== '') outlet.write(errorAnswer(null, rpcErrors.parse, 'Parse error: this line is not JSON'));
      return;
    }
    this.#to.wantServer();
    if (message.kind === 'batch') this.#takeBatch(message, line, text);
    else this.#take(message, line, text);
  }

  /** Answers a line that was too long to be kept. */
  refuse(head: Buffer): void {
    const message = `A message may have ${maxLineBytes} bytes; this one was not passed on`;
    this.#scope.outlet.write(errorAnswer(idIn(head.toString('utf8')), rpcErrors.invalidRequest, message));
  }

  /** A server hears from us that the client is ready, and must not hear it twice. */
  serverGreeted(): void {
    this.#held = this.#held.filter((line) => line !== this.#heldInitialized);
  }

  /** A server takes messages: what has waited for it is passed on. */
  serverReady(): void {
    const wire = this.#scope.wire;
    for (const line of this.#held.splice(0)) wire?.write(line);
  }

  #take(message: McpMessage, line: Uint8Array, text: string, inBatch = false): void {
    this.#scope.log?.passed('client', message, line.length);
    if (this.#misfits.keeps(message, text)) return;
    switch (message.kind) {
      case 'request':
        this.#asked(message, line, inBatch);
        break;
      case 'notification':
        this.#notified(message, line, text);
        break;
      case 'answer': {
        const passed = this.#to.requests.answered(message, line, text);
        if (passed !== undefined) this.#scope.wire?.write(passed);
        break;
      }
      case 'foreign':
      case 'batch':
      case 'garbage':
        break;
    }
  }

  #asked(given: McpRequest, own: Uint8Array, inBatch: boolean): void {
    const { record, told } = this.#scope;
    const { controlRequests, calls, elicitations, tools } = this.#to;
    let request = given;
    let line = own;
    let calledAs: string | undefined;
    if (given.method === 'initialize') [request, line] = elicitations.offered(given, own);
    const known = this.#knownHandshake(request);
    if (known !== undefined) {
      this.#scope.outlet.write(resultAnswer(request.id, known));
      return;
    }
    record.asked(request);
    // Whatever the rules say of the tools of the server.
    if (told.answers(request)) return;
    if (!tools.isPlain) {
      const taken = tools.taken(request, line);
      if ('kind' in taken) return this.#to.refuse(request, taken);
      [request, line, calledAs] = taken;
    }
    if (!inBatch && this.#answeredFromRecord(request)) return;
    if (controlRequests.takes(request)) controlRequests.start(request, line);
    else calls.start(request, line, inBatch, calledAs);
  }

  /** A client that shakes hands anew while its server is away hears what it heard the first time, and stays. */
  #knownHandshake({ method, params }: McpRequest) {
    const { record, wire } = this.#scope;
    if (method !== 'initialize' || record.handshake === undefined || wire?.ready === true) return undefined;
    const agreed = record.handshake['protocolVersion'];
    return params['protocolVersion'] === agreed ? record.handshake : undefined;
  }

  /** The first requests of a client are answered before its server is there, where an earlier one was asked the same. */
  #answeredFromRecord(request: McpRequest): boolean {
    // What was accepted is in the database, which is asked first.
    if (this.#scope.settings.pin && request.method === 'tools/list') return false;
    const { record, recorded, outlet, told } = this.#scope;
    const { calls, controlRequests } = this.#to;
    const isFresh = !record.established && !calls.isInitializing && !controlRequests.isDiscovering;
    const found = recorded?.answerTo(request, isFresh);
    if (found === undefined) return false;
    if ('result' in found) {
      record.answered(request, found.result);
      const line = this.#to.tools.shown(request, resultAnswer(request.id, found.result));
      outlet.write(told.line(request, undefined, line));
    } else outlet.write(errorAnswerOf(request.id, found.error));
    return true;
  }

  #notified({ method, params }: McpNotification, line: Uint8Array, text: string): void {
    const { record, wire } = this.#scope;
    if (method === 'notifications/cancelled') this.#cancelled(params['requestId'], params['reason'], line, text);
    else if (method === 'notifications/initialized') {
      record.noteInitialized();
      if (wire?.ready === true) this.#pass(line);
      else if (this.#to.calls.isInitializing && !record.established) {
        // The handshake that waits for the first server is the client's own, and so is its end.
        this.#heldInitialized = line;
        this.#pass(line);
      }
      // A server that is being greeted hears it from us.
    } else this.#pass(line);
  }

  #cancelled(requestId: unknown, reason: unknown, line: Uint8Array, text: string): void {
    const key = idKey(requestId);
    if (key === undefined) return;
    const { controlRequests, calls, elicitations } = this.#to;
    const aside = controlRequests.cancel(key);
    const question: Question | undefined = aside.mine ? aside.question : calls.cancel(key, reason);
    elicitations.check();
    if (question === undefined) return;
    const { wireId, wireKey } = question;
    this.#scope.wire?.write(wireKey === key ? line : withRequestId(text, wireId));
  }

  #pass(line: Line): void {
    const wire = this.#scope.wire;
    if (wire?.ready === true) {
      wire.write(line);
      return;
    }
    if (this.#held.push(line) > mostHeld) this.#held.shift();
  }

  /** Passes a batch as it is when all of it can go at once as it is, else one by one. */
  #takeBatch(batch: McpMessage & { readonly kind: 'batch' }, line: Buffer, text: string): void {
    const passed: Line[] = [];
    let same = 0;
    for (const { item, own } of messagesOf(batch, text)) {
      const bytes = Buffer.from(`${own}\n`);
      const take = (): void => this.#take(item, bytes, own, true);
      for (const each of this.#scope.wire?.collect(take) ?? (take(), [])) {
        if (each === bytes) same++;
        passed.push(each);
      }
    }
    if (same === batch.items.length) this.#scope.wire?.write(line);
    else for (const each of passed) this.#scope.wire?.write(each);
  }
}
