import { type Listener, type OpenServer, ServerLines } from '../wire/serverLines.ts';
import type { Clock, Timer } from '../../src/policy/face.ts';
import type { McpAnswer, McpMessage, McpParams } from '../../src/protocol/mcp/face.ts';
import { notificationLine, requestLine } from '../../src/protocol/face.ts';

/** A server of a hub. */
export interface HubServer {
  readonly name: string;
  readonly open: OpenServer;
}

interface MemberHost {
  readonly clock: Clock;
  /** An id that the client does not use. */
  readonly nextId: () => string;
  /** A message that is no answer to a request of the hub's own. */
  heard(member: HubMember, message: McpMessage, text: string): void;
  /** It takes requests, which it did not before. */
  joined(member: HubMember): void;
  say(line: string): void;
  room(): Promise<void> | undefined;
}

/** Answer of a server. */
export interface Told {
  readonly answer: McpAnswer;
  readonly text: string;
}

/** Time that one has for another try once a start of it has failed, before nobody waits for it any more, in ms. */
const graceMs = 1000;
/** Time after which one that did not come up is greeted again, in ms. */
const againMs = 15_000;
/** Most that may wait to be read by a server, in bytes; beyond it a request is refused. */
const mostUnread = 16 * 1024 * 1024;

/** A server of a hub, as the hub's client sees it: behind a proxy of its own, which keeps it alive. */
export class HubMember implements Listener {
  readonly name: string;
  readonly closed: Promise<void>;
  /** Description that it gave of itself; undefined until it takes requests. */
  info: McpParams | undefined = undefined;
  readonly #host: MemberHost;
  readonly #lines: ServerLines;
  readonly #asked = new Map<string, (told: Told) => void>();
  #unread = 0;
  #greeting: McpParams | undefined = undefined;
  #greeted: Promise<Told> | undefined = undefined;
  #isClientReady = false;
  #isReady = false;
  #again: Timer | undefined = undefined;
  #isOver = false;
  #grace: Timer | undefined = undefined;
  #hasFailed = (): void => undefined;

  constructor({ name, open }: HubServer, host: MemberHost) {
    this.name = name;
    this.#host = host;
    this.#lines = new ServerLines(open, this);
    this.closed = this.#lines.closed;
  }

  /** Tells whether it says that it has something, such as `prompts`; one that has said nothing yet may. */
  mayHave(capability: string): boolean {
    return this.info === undefined || (this.info['capabilities'] as McpParams | undefined)?.[capability] !== undefined;
  }

  /** Passes a message on, one line without its end. @returns false when the server has too much to read already. */
  send(line: string): boolean {
    if (this.#isOver || this.#unread > mostUnread) return false;
    const wait = this.#lines.send(line);
    if (wait === undefined) return true;
    const { length } = line;
    this.#unread += length;
    void wait.then(() => (this.#unread -= length));
    return true;
  }

  /** Asks something of the hub's own. Rejects never; resolves with its answer, or an error in its place. */
  ask(method: string, params: McpParams | undefined): Promise<Told> {
    return new Promise((resolve) => {
      const id = this.#host.nextId();
      this.#asked.set(`s${id}`, resolve);
      if (!this.send(requestLine(id, method, params).trimEnd())) {
        this.#asked.delete(`s${id}`);
        resolve({ answer: unread, text: '' });
      }
    });
  }

  /** Greets it as the client does (`initialize`, `server/discover`), and goes on until it comes up. @returns its first answer. */
  greet(method: string, params: McpParams): Promise<Told> {
    this.#greeted = this.#greet(method, params);
    return this.#greeted;
  }

  /** Greets it as the client shakes hands. Resolves when it has answered, or a second after a start of it failed: a process that lives may be slow. */
  async settles(params: McpParams): Promise<void> {
    const failed = new Promise<void>((resolve) => (this.#hasFailed = resolve));
    await Promise.race([this.greet('initialize', params), failed]);
    this.#hasFailed = () => undefined;
  }

  startFailed(): void {
    // Its end is one, too, before it has answered: nobody waits any more.
    if (this.#isOver) return;
    this.#grace ??= this.#host.clock.setTimeout(() => {
      this.#grace = undefined;
      this.#hasFailed();
    }, graceMs);
  }

  /** Resolves when it takes requests, or has failed to come up once more. @returns what was said to that, or `up`. */
  async comesUp(): Promise<(McpAnswer['error'] & object) | 'up'> {
    // A greeting that was to be tried later is tried now.
    if (this.#again !== undefined && this.#greeting !== undefined) void this.greet('initialize', this.#greeting);
    let greeted: Promise<Told> | undefined;
    let told: Told | undefined;
    do {
      greeted = this.#greeted;
      told = await greeted;
    } while (this.#greeted !== greeted);
    return told?.answer.error ?? 'up';
  }

  async #greet(method: string, params: McpParams): Promise<Told> {
    this.#host.clock.clearTimeout(this.#again);
    this.#again = undefined;
    this.#greeting = params;
    this.info = undefined;
    const told = await this.ask(method, params);
    if (this.#isOver || this.#greeting !== params) return told;
    const { result, error } = told.answer;
    if (result === undefined) {
      const { clock } = this.#host;
      // To be asked for its era is no reason to be up.
      if (method !== 'initialize') return told;
      this.#host.say(`${this.name} does not answer for now: ${String(error?.['message'])}`);
      this.#again = clock.setTimeout(() => void this.greet(method, params), againMs);
      return told;
    }
    this.info = result;
    this.#isReady = method !== 'initialize';
    this.#tellReady();
    this.#host.joined(this);
    return told;
  }

  clientReady(): void {
    this.#isClientReady = true;
    this.#tellReady();
  }

  /** The client has ended its side. */
  end(): void {
    this.#isOver = true;
    this.#stopTimers();
    this.#lines.end();
  }

  heard(message: McpMessage, text: string): void {
    const own = message.kind === 'answer' && message.key !== undefined ? this.#asked.get(message.key) : undefined;
    if (message.kind !== 'answer' || message.key === undefined || own === undefined) {
      this.#host.heard(this, message, text);
      return;
    }
    this.#asked.delete(message.key);
    own({ answer: message, text });
  }

  over(): void {
    this.#isOver = true;
    this.#stopTimers();
    for (const resolve of this.#asked.values()) resolve({ answer: ended, text: '' });
    this.#asked.clear();
  }

  room(): Promise<void> | undefined {
    return this.#host.room();
  }

  #stopTimers(): void {
    this.#host.clock.clearTimeout(this.#again);
    this.#host.clock.clearTimeout(this.#grace);
  }

  #tellReady(): void {
    if (!this.#isClientReady || this.#isReady || this.info === undefined) return;
    this.#isReady = true;
    this.send(notificationLine('notifications/initialized').trimEnd());
  }
}

const errorOf = (message: string): McpAnswer => ({
  ...{ kind: 'answer', key: undefined, result: undefined, flaw: undefined },
  error: { code: -32_603, message },
});
const unread = errorOf('it has too much to read already');
const ended = errorOf('it has ended');
