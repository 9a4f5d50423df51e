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
import { type Line, textOf } from './outlet.ts';
import { StrayOutput } from '../wire/strayOutput.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { ServerRequests } from './serverRequests.ts';
import type { ToolView } from './toolView.ts';

/** Handling of the lines a server writes: they pass as they are, unless nobody waits for them. */
export class FromServer {
  readonly #scope: ProxyScope;
  readonly #controlRequests: ControlRequests;
  readonly #requests: ServerRequests;
  readonly #stray: StrayOutput;

  readonly #tools: Pick<ToolView, 'changed'>;

  constructor(
    scope: ProxyScope,
    controlRequests: ControlRequests,
    requests: ServerRequests,
    tools: Pick<ToolView, 'changed'>,
  ) {
    this.#tools = tools;
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
    const { wire, log } = this.#scope;
    log?.passed('server', message, line.length);
    switch (message.kind) {
      case 'answer':
        this.#answered(message, line);
        break;
      case 'request':
        if (wire !== undefined) this.#pass(this.#requests.asked(message, line, text));
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

  #pass(line: Line | undefined): void {
    if (line !== undefined) this.#scope.outlet.write(line);
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
        this.#pass(this.#requests.cancelled(params, line, text));
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
        if (method === 'notifications/tools/list_changed') this.#tools.changed();
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
        passed.push(textOf(line).trimEnd());
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
