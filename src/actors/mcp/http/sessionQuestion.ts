import { inTime } from '../../../policy/inTime.ts';
import type { Clock } from '../../../policy/clock.ts';
import { type McpParams, type McpRequest, readMessage } from '../../../protocol/mcp/message.ts';
import { requestLine } from '../../../protocol/jsonRpc.ts';
import { isEventStream, messageText, readEventStream } from './eventStream.ts';
import { refusalText } from './httpFailure.ts';
import { type Outgoing, readOutgoing } from './openRequests.ts';
import type { RemoteContext } from './remoteContext.ts';
import { type SessionSign, signOf, signOfEra } from './sessionDoubt.ts';
import type { HttpAnswer } from '../../../streams/readBody.ts';

/** Needs of a question from the link that it is put for. */
export interface QuestionHost {
  readonly clock: Clock;
  readonly context: RemoteContext;
  /** Aborted with the end of the link, and of the question. */
  readonly signal: AbortSignal;
  /** The headers that a request of this session goes with. */
  headers(outgoing: Outgoing): Readonly<Record<string, string>>;
  /** Parameters in which requests of the stateless era describe themselves. */
  readonly envelope: McpParams | undefined;
  readonly hasSession: boolean;
  /** The handshake of this session; undefined in the stateless era. */
  readonly greeting: McpRequest | undefined;
}

/** Result of one request: the answer where there is one, else what was said in its place. */
interface Said {
  readonly status: number;
  readonly text: string;
  readonly session: string | undefined;
}

const longestAnswerBytes = 1_048_576;
let questions = 0;

/** Asks a server for a sign of life in its session. Whatever it says to that ends nothing, and costs no token. Never rejects. */
export async function askInSession(host: QuestionHost): Promise<SessionSign> {
  const { envelope, context, hasSession } = host;
  const method = envelope === undefined ? 'ping' : 'server/discover';
  const params = envelope === undefined ? undefined : { _meta: envelope };
  const asked = readOutgoing(requestLine(nextId(), method, params).trimEnd());
  const said = await ask(host, asked, host.headers(asked), context.settings.pingMs);
  if (said === undefined) return 'silent';
  return envelope === undefined ? signOf(said.status, said.text, hasSession) : signOfEra(said.status, said.text);
}

/** Tells whether the server takes the same handshake again. If so, the session that it began is kept for the next link. Never rejects. */
export async function greetAnew(host: QuestionHost): Promise<boolean> {
  const { greeting, context } = host;
  if (greeting === undefined) return false;
  const asked = readOutgoing(requestLine(nextId(), 'initialize', greeting.params).trimEnd());
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const said = await ask(host, asked, headers, context.settings.handshakeMs);
  if (said === undefined) return false;
  const message = readMessage(said.text);
  if (said.status > 299 || message.kind !== 'answer' || message.result === undefined) return false;
  context.keepGreeting({ params: greeting.params, text: said.text, session: said.session });
  return true;
}

function nextId(): string {
  return `unwedge-${++questions}`;
}

async function ask(
  { clock, context, signal }: QuestionHost,
  asked: Outgoing,
  headers: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<Said | undefined> {
  const said = context.requester.ask({ method: 'POST', headers, body: asked.text, signal }).then(
    async (response): Promise<Said> => ({
      status: response.status,
      text: await answerIn(response, asked.requests[0]?.key, clock, signal),
      session: response.headers.get('mcp-session-id') ?? undefined,
    }),
  );
  try {
    return await inTime(said, { clock, limitMs, running: true, signal });
  } catch {
    return undefined;
  }
}

/** The answer to the request of this key, else what came in its place. */
async function answerIn(
  response: HttpAnswer,
  key: string | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  if (!response.ok || !isEventStream(response)) return refusalText(response, clock, signal);
  let other = '';
  const found = new Promise<string>((resolve) => {
    const onEvent = ({ data }: { readonly data: string }): void => {
      const text = messageText(data);
      const message = readMessage(text);
      if (message.kind === 'answer' && message.key === key) resolve(text);
      else if (message.kind === 'foreign' || message.kind === 'garbage') other = text;
    };
    const over = (): void => resolve(other);
    readEventStream(response, { maxBytes: longestAnswerBytes, flow: () => undefined, onEvent }).then(over, over);
  });
  return found;
}
