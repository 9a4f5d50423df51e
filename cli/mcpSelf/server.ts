import type { Readable, Writable } from 'node:stream';
import { signature } from '../../proxy/hub/hubGreeting.ts';
import { startMcpClientPipe } from '../../proxy/wire/mcpClientPipe.ts';
import {
  type McpMessage,
  type McpRequest,
  claimedVersion,
  fieldsOf,
  idKey,
  readMessage,
} from '../../src/protocol/mcp/face.ts';
import { resultAnswer } from '../../proxy/wire/syntheticAnswer.ts';
import { errorAnswer, rpcErrors } from '../../src/protocol/face.ts';
import { inTime } from '../../src/policy/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import { ownVersion } from '../doctor/ownVersion.ts';
import type { Io } from '../io.ts';
import { answerTool, toolResult } from './answerTool.ts';
import { inputSchema, problemOf, type SelfTool } from './tools.ts';

/** Versions with a handshake, the newest first, and the one without. */
const spoken = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const stateless = '2026-07-28';
const unsupportedVersion = -32_022;
const longestLineBytes = 1024 * 1024;

/** A question reads a file and asks live gateways, each for 2 s at most. */
const overallMs = 30_000;

const about = {
  capabilities: { tools: {} },
  instructions:
    'What supervises the MCP servers, APIs, commands and sessions that you use. Ask `status` when a tool fails or does not answer, ' +
    '`why` for what a session waits for and when that ends.',
};

/** Refusal of a request, as JSON-RPC tells it. */
class Refusal extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * An MCP server of either era over two streams, whose tools are commands of unwedge, answered as they would be on a terminal. By hand: of the official
 * package, 7 MB, it would be the only use.
 * @returns when its client has ended its side and reads what is answered, or the signal of `io` aborts.
 */
export async function serveSelf(
  tools: readonly SelfTool[],
  db: string | undefined,
  io: Pick<Io, 'env' | 'signal' | 'now'>,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<void> {
  const running = new Map<string, { readonly cancelled: AbortController; readonly replied: Promise<void> }>();
  let hasEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => (hasEnded = resolve));
  const identity = { name: 'unwedge', version: ownVersion() };
  const signed = signature(identity.version);

  const pipe = startMcpClientPipe({
    input,
    output,
    maxLineBytes: longestLineBytes,
    begin: () => undefined,
    end: () => undefined,
    line: (line) => take(line.toString('utf8').trim()),
    tooLong: () => pipe.write(errorAnswer(null, rpcErrors.invalidRequest, 'This message is too long')),
    ended: () => hasEnded(),
    fullChanged: (full) => (full ? pipe.hold('unread') : pipe.release('unread')),
  });

  function take(text: string): void {
    const message = readMessage(text);
    // A batch within a batch is no message.
    if (message.kind === 'batch') message.items.forEach(heed);
    else heed(message);
    if (message.kind === 'garbage' && text !== '')
      pipe.write(errorAnswer(null, rpcErrors.parse, 'Parse error: this line is not JSON'));
  }

  function heed(message: McpMessage): void {
    if (message.kind === 'request') {
      const cancelled = new AbortController();
      running.set(message.key, { cancelled, replied: reply(message, cancelled.signal) });
    } else if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      running.get(idKey(message.params['requestId']) ?? '')?.cancelled.abort();
  }

  /** Never rejects. What was cancelled is not answered. */
  async function reply(request: McpRequest, cancelled: AbortSignal): Promise<void> {
    const line = await resultOf(request, cancelled).then(
      (result) => resultAnswer(request.id, result),
      (error: unknown) =>
        error instanceof Refusal
          ? errorAnswer(request.id, error.code, error.message, error.data)
          : errorAnswer(request.id, rpcErrors.internal, messageOf(error)),
    );
    running.delete(request.key);
    if (!cancelled.aborted) pipe.write(line);
  }

  async function resultOf({ method, params }: McpRequest, cancelled: AbortSignal): Promise<object> {
    const version = claimedVersion(params);
    if (version !== undefined && version !== stateless && method !== 'server/discover') {
      const data = { supported: [stateless], requested: version };
      throw new Refusal(unsupportedVersion, `Unsupported protocol version: ${version}`, data);
    }
    const kept = version === undefined ? {} : { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...signed };
    switch (method) {
      case 'initialize': {
        const asked = params['protocolVersion'];
        return {
          protocolVersion: spoken.find((each) => each === asked) ?? spoken[0],
          serverInfo: identity,
          ...about,
        };
      }
      case 'server/discover':
        return { supportedVersions: [stateless], ...about, ...kept, ...signed };
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: tools.map(listed), ...kept };
      case 'tools/call':
        return {
          ...(await call(params, cancelled)),
          ...(version !== undefined && { resultType: 'complete', ...signed }),
        };
      default:
        throw new Refusal(rpcErrors.methodNotFound, `Method not found: ${method}`);
    }
  }

  async function call(params: McpRequest['params'], cancelled: AbortSignal): Promise<object> {
    const tool = tools.find(({ name }) => name === params['name']);
    if (tool === undefined) throw new Refusal(rpcErrors.invalidParams, `Tool ${String(params['name'])} not found`);
    const given = fieldsOf(params['arguments']);
    const problem = problemOf(tool, given);
    if (problem !== undefined) return toolResult(`Invalid arguments for tool ${tool.name}: ${problem}`, true);
    const gaveUp = new AbortController();
    const signal = AbortSignal.any([io.signal, cancelled, gaveUp.signal]);
    const answered = answerTool(tool, given, db, { ...io, signal }).catch((error: unknown) =>
      toolResult(messageOf(error), true),
    );
    const answer = await inTime(answered, { clock: systemClock, signal: cancelled, limitMs: overallMs });
    if (answer === undefined) gaveUp.abort();
    return answer ?? toolResult(`The tool ${tool.name} gave no answer within ${overallMs / 1000} s`, true);
  }

  const stopped = new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([ended, stopped]);
  // Requests that came before the client ended its side are answered.
  await Promise.race([Promise.all([...running.values()].map(({ replied }) => replied)), stopped]);
  pipe.stop();
  await Promise.race([pipe.flush(), stopped]);
}

function listed(tool: SelfTool): object {
  const { name, description, acts } = tool;
  return {
    name,
    title: `unwedge ${name}`,
    description,
    inputSchema: inputSchema(tool),
    annotations: { readOnlyHint: !acts, destructiveHint: acts, openWorldHint: false },
  };
}
