import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { type FaultyAcpAgentOptions, faultyAcpAgent, inProcessAcpAgent } from '../../testing/index.ts';
import { converseWith, type WireMessage } from './wire.ts';

/** What an agent sent up to some message, as words that tests can compare. */
export interface Heard {
  readonly messages: readonly WireMessage[];
  /** `text`, `tool_call`, … of updates, methods of requests, `answer ID`. */
  readonly words: readonly string[];
  /** All agent text, joined. */
  readonly text: string;
}

interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** A raw client, line by line. */
export function rawAcpClient({ stdin, stdout }: Pipes) {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const send = (message: object): void => void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const line = async (): Promise<string | undefined> => (await lines.next()).value as string | undefined;
  const next = async (): Promise<WireMessage> => JSON.parse((await line()) ?? '{"method":"the end"}') as WireMessage;
  const until = async (isLast: (message: WireMessage) => boolean): Promise<Heard> => {
    const messages: WireMessage[] = [];
    do messages.push(await next());
    while (!isLast(messages.at(-1) as WireMessage) && messages.at(-1)?.method !== 'the end');
    return heard(messages);
  };
  const request = (id: unknown, method: string, params: object = {}): void => send({ id, method, params });
  const answer = (id: unknown): Promise<Heard> => until((each) => each.id === id && each.method === undefined);
  return {
    stdin,
    send,
    line,
    next,
    until,
    request,
    answer,
    prompt: (id: unknown, text: string, sessionId = 'session-1'): void =>
      request(id, 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    cancel: (sessionId = 'session-1'): void => send({ method: 'session/cancel', params: { sessionId } }),
    /** Initializes and makes a session. */
    open: async (clientCapabilities: object = {}): Promise<string> => {
      request('i', 'initialize', { protocolVersion: 1, clientCapabilities });
      await answer('i');
      request('n', 'session/new', { cwd: '/', mcpServers: [] });
      const { messages } = await answer('n');
      return String(messages.at(-1)?.result?.['sessionId']);
    },
  };
}

function heard(messages: readonly WireMessage[]): Heard {
  const updates = messages.map(({ params }) => params?.['update'] as Readonly<Record<string, unknown>> | undefined);
  const textOf = (update: Readonly<Record<string, unknown>> | undefined): string =>
    update?.['sessionUpdate'] === 'agent_message_chunk' ? (update['content'] as { text: string }).text : '';
  const words = messages.map(({ id, method }, index) => {
    const update = updates[index];
    if (update === undefined) return method ?? `answer ${String(id)}`;
    const { sessionUpdate, status } = update;
    return sessionUpdate === 'agent_message_chunk' ? 'text' : [sessionUpdate, status].filter(Boolean).join(' ');
  });
  return { messages, words, text: updates.map(textOf).join('') };
}

/** The faulty agent as it is built: Node runs its program, not its source. */
export function builtAcpAgent(options?: FaultyAcpAgentOptions) {
  const { command, args } = faultyAcpAgent(options);
  const [program = '', ...rest] = args;
  return { command, args: [program.replace(/([/\\])(testing[/\\][^/\\]+)$/, '$1dist$1$2'), ...rest] };
}

/** An agent in this process and a raw client of it. */
export function converseInProcess(options: Parameters<typeof inProcessAcpAgent>[0] = {}) {
  const agent = inProcessAcpAgent(options);
  onTestFinished(() => agent.kill());
  return { ...rawAcpClient(agent), agent };
}

/** An agent of its own process and a raw client of it. */
export function converseWithProgram(options: FaultyAcpAgentOptions = {}) {
  const { command, args } = builtAcpAgent(options);
  const peer = converseWith(command, args);
  return { ...peer, ...rawAcpClient(peer.child) };
}
