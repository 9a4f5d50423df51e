import type { McpServerTransport } from '../src/actors/mcp/face.ts';
import { type Given, byName, callback, readOptions, text } from '../src/policy/options/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import {
  type ClientMessage,
  createGoodAnswers,
  type GoodAnswers,
  progressTokenOf,
  textResult,
} from './faultyMcpAnswers.ts';

/** Surroundings of a tool of `fakeMcpServer` beside its arguments. */
export interface FakeMcpContext {
  /** Aborted when the client has cancelled the call, or the connection has ended. */
  readonly signal: AbortSignal;
  /** Says that the call goes on, where the client has asked for that. */
  progress(done: number, total?: number): void;
  /** Ends the connection, as a server that dies does; the next start makes a new one. */
  crash(): void;
}

/**
 * A tool as a function. A string is answered as a text, an object with a list `content` as the result it is, anything else as JSON; a throw
 * and a rejection are an `isError`. A promise that does not settle is a call that hangs.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the tool says what its arguments are
export type FakeMcpTool = (given: any, context: FakeMcpContext) => unknown;

/** Server that `gateway.mcpServer` takes. */
export interface FakeMcpServer {
  readonly connect: () => McpServerTransport;
}

const fakeKeys = {
  /** Its tools, by their names. */
  tools: byName(callback<FakeMcpTool, { readonly required: true }>({ required: true }), {
    given: {} as Readonly<Record<string, FakeMcpTool>>,
    expected: 'an object of functions',
    required: true,
  }),
  /** Name that it gives itself. @defaultValue 'fake' */
  name: text({ default: 'fake' }),
};

/** Options of a fake MCP server. */
export interface FakeMcpServerOptions extends Given<typeof fakeKeys> {}

/**
 * An MCP server in this process whose tools are functions. It takes no real time, so that it goes with a {@link SimulatedClock}; a process and
 * a server on a port do not.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const clock = new SimulatedClock();
 * const gateway = createGateway({ clock });
 * const kb = gateway.mcpServer('kb', fakeMcpServer({ tools: { search: ({ query }) => `found ${query}` } }));
 * await gateway.start();
 * const call = kb.call({ name: 'search', arguments: { query: 'tea' } });
 * await clock.advance(1000);
 * console.log(await call);
 */
export function fakeMcpServer(options: FakeMcpServerOptions): FakeMcpServer {
  const { name, tools } = readOptions('', options, fakeKeys);
  return { connect: () => new FakeMcpPeer(name, new Map(Object.entries(tools))) };
}

/** Connection to a fake server, as its client has it: what is sent is answered here. */
class FakeMcpPeer implements McpServerTransport {
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
  readonly #tools: ReadonlyMap<string, FakeMcpTool>;
  readonly #answers: GoodAnswers;
  readonly #calls = new Map<unknown, AbortController>();
  #isOver = false;

  constructor(name: string, tools: ReadonlyMap<string, FakeMcpTool>) {
    this.#tools = tools;
    const listed = [...tools.keys()].map((tool) => ({ name: tool }));
    this.#answers = createGoodAnswers({ name, version: '1.0.0', capabilities: { tools: {}, logging: {} } }, listed, []);
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send({ id, method, params = {} }: Partial<ClientMessage>): Promise<void> {
    if (method === 'notifications/cancelled') this.#calls.get(params['requestId'])?.abort();
    const run = method === 'tools/call' ? this.#tools.get(String(params['name'])) : undefined;
    // An answer of ours is not looked at.
    if (id === undefined || method === undefined) return Promise.resolve();
    if (run === undefined) this.#say({ id, ...this.#answers.answer({ id, method, params }) });
    else void this.#call(id, run, params);
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#isOver = true;
    for (const call of this.#calls.values()) call.abort();
    this.onclose?.();
    return Promise.resolve();
  }

  async #call(id: string | number, run: FakeMcpTool, params: ClientMessage['params']): Promise<void> {
    const ended = new AbortController();
    this.#calls.set(id, ended);
    const progressToken = progressTokenOf(params);
    const context: FakeMcpContext = {
      signal: ended.signal,
      progress: (done, total) => {
        if (progressToken === undefined) return;
        this.#say({ method: 'notifications/progress', params: { progressToken, progress: done, total } });
      },
      crash: () => void this.close(),
    };
    try {
      this.#say({ id, result: resultOf(await run(params['arguments'] ?? {}, context)) });
    } catch (error) {
      this.#say({ id, result: { ...textResult(messageOf(error)), isError: true } });
    } finally {
      this.#calls.delete(id);
    }
  }

  /** Later than what it is about, as anything that is sent; a connection that has ended carries nothing. */
  #say(message: object): void {
    queueMicrotask(() => {
      if (!this.#isOver) this.onmessage?.({ jsonrpc: '2.0', ...message });
    });
  }
}

function resultOf(value: unknown): object {
  if (value === undefined) return textResult();
  if (typeof value === 'string') return textResult(value);
  const isResult = typeof value === 'object' && value !== null && 'content' in value && Array.isArray(value.content);
  return isResult ? value : textResult(JSON.stringify(value));
}
