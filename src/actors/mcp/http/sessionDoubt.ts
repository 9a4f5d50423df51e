import { parsedJson } from '../../../policy/text/parsedJson.ts';
import type { Clock } from '../../../policy/clock.ts';
import { rpcErrors } from '../../../protocol/jsonRpc.ts';
import { fieldsOf, type McpParams, readMessage } from '../../../protocol/mcp/message.ts';
import { bounded } from '../../../protocol/mcp/toolFailure.ts';

/** Words of a server in place of an answer, after the handshake. */
export interface Refusal {
  /** Status of HTTP, where that is what it refused by. */
  readonly status?: number | undefined;
  /** The body of the refusal, or the message of the error. */
  readonly text: string;
  /** Code of the error in an answer of the protocol. */
  readonly code?: unknown;
  /** True where it says when to come again: it is too busy to be asked more. */
  readonly isBusy?: boolean | undefined;
}

/**
 * Reaction of a server to a question in its session: it answers, says that the session is gone, refuses it in words that may mean that, or says nothing of
 * use.
 */
export type SessionSign = 'alive' | 'gone' | 'refused' | 'silent';

interface SessionDoubtOptions {
  readonly clock: Clock;
  /** Asks in the session, within a limit. Never rejects. */
  readonly ask: () => Promise<SessionSign>;
  /** Tells whether the server takes another handshake, within a limit; asked where the first question settled nothing. Never rejects. */
  readonly greet: () => Promise<boolean>;
  /** The session is gone. Called once. */
  readonly lose: (why: Refusal) => void;
}

/**
 * Time in ms that a server that was found to know its session is not asked again: after words that may mean anything, and after those that speak of one
 * request.
 */
const unnamedMs = 1000;
const ofRequestMs = 30_000;

/**
 * Finds out whether a refusal means that a session is gone: servers and bridges say it in any word. All that are refused meanwhile wait for the
 * same answer.
 */
export class SessionDoubt {
  readonly #options: SessionDoubtOptions;
  #asking: Promise<boolean> | undefined = undefined;
  #questions = 0;
  #knownAt = Number.NEGATIVE_INFINITY;
  #isGone = false;

  constructor(options: SessionDoubtOptions) {
    this.#options = options;
  }

  /** Questions put so far: a request that was sent before the last of them says nothing that its answer did not. */
  get mark(): number {
    return this.#questions;
  }

  /** Tells whether the session is gone, as far as can be found out. @param mark - as of when the request was sent. Never rejects. */
  isGone(refusal: Refusal, mark: number): Promise<boolean> {
    if (this.#isGone) return Promise.resolve(true);
    const weight = weightOf(refusal);
    if (weight === 'none') return Promise.resolve(false);
    if (this.#asking !== undefined) return this.#asking;
    const pauseMs = weight === 'named' ? 0 : weight === 'unnamed' ? unnamedMs : ofRequestMs;
    const isKnown = this.#options.clock.now() < this.#knownAt + pauseMs;
    if (mark < this.#questions || isKnown) return Promise.resolve(false);
    this.#questions++;
    this.#asking = this.#find(refusal, weight).finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #find(refusal: Refusal, weight: Weight): Promise<boolean> {
    const { ask, greet, lose, clock } = this.#options;
    const sign = await ask();
    // Words about one request need more than a server that does not answer.
    const mayGreet = sign === 'refused' || (sign === 'silent' && weight !== 'ofRequest');
    const isGone = sign === 'gone' || (mayGreet && (await greet()));
    if (isGone && !this.#isGone) {
      this.#isGone = true;
      lose(refusal);
    }
    this.#knownAt = clock.now();
    return isGone;
  }
}

type Weight = 'none' | 'ofRequest' | 'unnamed' | 'named';

/** Errors that speak of the request: its name, its arguments, what it wants. */
const requestCodes: ReadonlySet<unknown> = new Set([rpcErrors.invalidParams, -32_002, -32_042]);
const requestStatuses: ReadonlySet<number> = new Set([400, 403, 404, 405, 406, 411, 415, 422, 431]);

/** Decides how much a refusal says of the session. */
function weightOf({ status, text, code, isBusy }: Refusal): Weight {
  const said = code ?? codeIn(text);
  if (said === rpcErrors.methodNotFound || status === 413) return 'none';
  if (namesConnection(text)) return 'named';
  if (isBusy === true || status === 429 || status === 529 || /overload|too many|rate.?limit/i.test(text)) return 'none';
  const isOfRequest = requestCodes.has(said) || (status !== undefined && requestStatuses.has(status));
  return isOfRequest ? 'ofRequest' : 'unnamed';
}

function codeIn(text: string): unknown {
  const message = readMessage(text);
  return message.kind === 'answer' ? message.error?.['code'] : undefined;
}

/** Tells whether a refusal speaks of the session it was refused in. */
export function namesSession(text: string): boolean {
  return /session/i.test(text);
}

/** Tells whether it speaks of a session or a connection, in any word that servers and bridges have for that. */
function namesConnection(text: string): boolean {
  return (
    namesSession(text) ||
    /initiali[sz]|not connected|disconnected|reconnect|(?:connection|transport) (?:is |was |has been )?(?:closed|lost)|no (?:active |valid )?(?:connection|transport)|unknown client/i.test(
      text,
    )
  );
}

/** Reads from the answer to a ping the state of the session it was asked in. @param text - the message, or what came in its place. */
export function signOf(status: number, text: string, hasSession: boolean): SessionSign {
  const message = readMessage(text);
  const isAnswer = message.kind === 'answer';
  const code = isAnswer ? message.error?.['code'] : undefined;
  const isAnswered = isAnswer && message.result !== undefined && status < 300;
  if (isAnswered || code === rpcErrors.methodNotFound || status === 429 || status === 529) return 'alive';
  // A login may have a session as well, and end with it.
  if (status === 401) return 'refused';
  if (namesConnection(text) || (status === 404 && hasSession)) return 'gone';
  if (text === '' && status < 300) return 'silent';
  return status < 500 ? 'refused' : 'silent';
}

/** The same of the stateless era, which has no session but a version that was agreed on. @param text - the answer to `server/discover`. */
export function signOfEra(status: number, text: string): SessionSign {
  const message = readMessage(text);
  const code = message.kind === 'answer' ? message.error?.['code'] : undefined;
  if (namesConnection(text)) return 'gone';
  if (code !== undefined) return code === rpcErrors.internal ? 'alive' : 'gone';
  return status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status) ? 'gone' : 'alive';
}

/** An error of the protocol, in words. */
export function plainError(error: McpParams | undefined): string {
  const { code, message } = error ?? {};
  return bounded(typeof message === 'string' ? `error ${String(code)}: ${message}` : `error ${String(code)}`);
}

/** Returns the reply in place of an answer, in words for people. */
export function wordsIn(text: string): string {
  const said = fieldsOf(parsedJson(text));
  const { message } = { ...said, ...fieldsOf(said['error']) };
  return bounded((typeof message === 'string' ? message : text).replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, 300));
}
