import type { Timer } from '../../src/policy/face.ts';
import {
  type McpAnswer,
  type McpMessage,
  type McpNotification,
  idKey,
  messagesOf,
  readMessage,
} from '../../src/protocol/mcp/face.ts';
import type { ControlRequests } from './controlRequests.ts';
import { changeLine } from './handshake.ts';
import { textOf } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { ServerRequests } from './serverRequests.ts';

/** Handling of the lines a server writes: they pass as they are, unless nobody waits for them. */
export class FromServer {
  readonly #scope: ProxyScope;
  readonly #controlRequests: ControlRequests;
  readonly #requests: ServerRequests;
  readonly #stray: StrayOutput;

  constructor(scope: ProxyScope, controlRequests: ControlRequests, requests: ServerRequests) {
    this.#scope = scope;
    this.#controlRequests = controlRequests;
    this.#requests = requests;
    this.#stray = new StrayOutput(scope);
  }

  /** Takes one line, its end included. */
  take(line: Buffer): void {
    const text = line.toString('utf8');
    const message = readMessage(text);
    if (message.kind === 'garbage') this.#rescue(text);
    else if (isForeign(message)) this.#stray.take(text);
    else if (message.kind === 'batch') this.#takeBatch(message, line, text);
    else this.#take(message, line, text);
  }

  /** Its server is gone, or is to go. */
  end(): void {
    this.#stray.end();
  }

  #take(message: McpMessage, line: Uint8Array, text: string): void {
    const { wire, outlet, log } = this.#scope;
    log?.passed('server', message, line.length);
    switch (message.kind) {
      case 'answer':
        this.#answered(message, line);
        break;
      case 'request':
        if (wire !== undefined) outlet.write(this.#requests.asked(message, line, text));
        break;
      case 'notification':
        this.#notified(message, line, text);
        break;
      case 'batch':
      case 'foreign':
      case 'garbage':
        break;
    }
  }

  #answered(message: McpAnswer, line: Uint8Array): void {
    // It could not read something; whose it was nobody knows.
    if (message.key === undefined) this.#scope.outlet.write(line);
    else this.#scope.wire?.answered(line, message);
  }

  #notified({ method, params }: McpNotification, line: Uint8Array, text: string): void {
    const { wire, outlet } = this.#scope;
    switch (method) {
      case 'notifications/progress':
        if (wire?.progressed(params) === 'pass') outlet.write(line);
        break;
      case 'notifications/cancelled':
        // A subscription that its server has ended is none of the next one's.
        this.#controlRequests.withdrawn(idKey(params['requestId']));
        outlet.write(this.#requests.cancelled(params, line, text));
        break;
      case 'notifications/subscriptions/acknowledged':
        if (this.#controlRequests.acknowledged(params)) outlet.write(line);
        for (const change of this.#controlRequests.owed(params)) outlet.write(changeLine(change));
        break;
      case 'notifications/message':
        wire?.logged();
        outlet.write(line);
        break;
      default:
        outlet.write(line);
    }
  }

  /** Passes a batch as it is when all of it passes as it is, else what is left of it. */
  #takeBatch(batch: McpMessage & { readonly kind: 'batch' }, line: Uint8Array, text: string): void {
    const { outlet } = this.#scope;
    const passed: string[] = [];
    let same = 0;
    for (const { item, own } of messagesOf(batch, text)) {
      const bytes = Buffer.from(own);
      for (const line of outlet.collect(() => this.#take(item, bytes, own))) {
        if (line === bytes) same++;
        passed.push(textOf(line));
      }
    }
    if (passed.length > 0) outlet.write(same === batch.items.length ? line : `[${passed.join(',')}]\n`);
  }

  /** Rescues the message that is glued to what a program prints before it ends its line: the message is still there. */
  #rescue(text: string): void {
    const at = text.indexOf('{"jsonrpc"', 1);
    const rest = at < 0 ? undefined : text.slice(at);
    const message = rest === undefined ? undefined : readMessage(rest);
    if (rest === undefined || message === undefined || message.kind === 'garbage' || isForeign(message)) {
      this.#stray.take(text);
      return;
    }
    this.#stray.take(text.slice(0, at));
    this.#take(message, Buffer.from(rest), rest);
  }
}

/** JSON, and no message: a batch without one is a list that was printed. */
function isForeign(message: McpMessage): boolean {
  return message.kind === 'foreign' || (message.kind === 'batch' && message.items.every(isForeign));
}

/** Lines that pass in one window. */
const mostLines = 20;
/** Characters of a line that pass. */
const longestLine = 1000;
const windowMs = 10_000;

/**
 * Output of a server to stdout that is no message: it passes to stderr, where people look for what a program printed. A server that floods its stdout must
 * not flood that of its client too, so in each window of 10 s no more passes than its first lines.
 */
class StrayOutput {
  readonly #scope: ProxyScope;
  #timer: Timer | undefined = undefined;
  #passed = 0;
  #lines = 0;
  #bytes = 0;
  /** It is on record that lines are left out, and they still are. */
  #isTold = false;

  constructor(scope: ProxyScope) {
    this.#scope = scope;
  }

  /** @param text - a line, or what of one was before a message. */
  take(text: string): void {
    this.#timer ??= this.#scope.clock.setTimeout(this.#windowEnded, windowMs);
    if (this.#passed < mostLines) {
      this.#passed++;
      const line = text.replace(/\r?\n$/, '');
      const shown = line.slice(0, longestLine);
      const cut = line.length === shown.length ? 0 : Buffer.byteLength(line) - Buffer.byteLength(shown);
      this.#bytes += cut;
      this.#scope.voice.errors(cut === 0 ? `${line}\n` : `${shown}... (${sizeText(cut)} more)\n`);
      return;
    }
    this.#lines++;
    this.#bytes += Buffer.byteLength(text);
  }

  /** Its server is gone, or nobody listens any more. */
  end(): void {
    this.#scope.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tell();
    this.#passed = 0;
    this.#isTold = false;
  }

  readonly #windowEnded = (): void => {
    this.#timer = undefined;
    this.#isTold = this.#tell();
    this.#passed = 0;
  };

  /** @returns whether lines were left out. */
  #tell(): boolean {
    if (this.#bytes === 0) return false;
    const { name, facts, voice } = this.#scope;
    const lines = this.#lines;
    const bytes = this.#bytes;
    this.#lines = 0;
    this.#bytes = 0;
    // Each of the lines says so where they were merely cut.
    if (lines > 0) {
      const what = lines === 1 ? '1 more line' : `${lines} more lines`;
      voice.say(`${name}: ${what} on stdout (${sizeText(bytes)}) that are no messages were left out`);
    }
    if (!this.#isTold) facts.tell({ type: 'mcp.stray_output', integration: name, lines, bytes });
    return true;
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
