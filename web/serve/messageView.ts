import type { HistoryEntry, ToolResult } from '../../src/sessions/face.ts';
import type { MessageRecord, SessionRecords, StoreReader, TurnRecord } from '../../reader/storeReader.ts';
import type { AgentAnswer } from './agentTurns.ts';
import { declinedBy, type MessageResult } from './messageHandler.ts';
import type { Gateway } from '../../src/gateway/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { unreadable } from './apiError.ts';
import type { ServedSession } from './sessionHost.ts';

/** State of a message, as its sender is told. */
export interface MessageView {
  readonly id: string;
  /**
   * `waiting` in the mailbox, `running`, `done`, `failed` (the tool or the agent answered with an error, or nobody answered), `declined` by a hook,
   * `dead`: it is not delivered any more.
   */
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'declined' | 'dead';
  /** Answer of the tool, or the agent. @defaultValue nothing, while it is under way */
  readonly result?: ToolResult | undefined;
  /** Error in one line, of a message that failed or was declined. */
  readonly error?: string | undefined;
}

/** Shows how a message ended whose turn was waited for. @param failure - of its turn, where it did not end by itself. */
export function endedView(id: string, result: MessageResult | undefined, failure?: string): MessageView {
  if (failure?.startsWith(declinedBy) === true)
    return { id, state: 'declined', error: failure.slice(declinedBy.length) };
  // Each message ends with an answer, or else its turn has failed, which is not on record for ever.
  if (failure !== undefined || result === undefined)
    return { id, state: 'failed', error: failure ?? 'Nobody answered it.' };
  const error = errorIn(result);
  return error === undefined ? { id, state: 'done', result } : { id, state: 'failed', result, error };
}

/** An agent's failure is in its answer; a tool of MCP says `isError` in its own. */
function errorIn(result: ToolResult): string | undefined {
  if (result.status === 'error') return result.error;
  const { failure, isError, content } = (result.value ?? {}) as Partial<AgentAnswer> & ToolAnswer;
  if (isError === true) return textsIn(content) || 'The tool answered with an error.';
  return failure?.message;
}

interface ToolAnswer {
  readonly isError?: unknown;
  readonly content?: unknown;
}

function textsIn(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? [part.text] : []))
    .join(' ');
}

/** Sources on a session when somebody asks for one of its messages. */
export interface MessageSources {
  readonly history: readonly HistoryEntry[];
  /** The message that is being processed. */
  readonly running: string | undefined;
  readonly records: SessionRecords | undefined;
  /** The last turns on record. */
  readonly turns: readonly TurnRecord[];
}

/** Tells whether nothing more becomes of it. */
export const isOver = ({ state }: MessageView): boolean => state !== 'waiting' && state !== 'running';

/**
 * Tells what became of a message by its record alone.
 * @param isElsewhere - whether another gateway has the session: what was begun there is under way; otherwise it is delivered again.
 */
export function recordView({ id, state, error, result }: MessageRecord, isElsewhere: boolean): MessageView {
  switch (state) {
    case 'waiting':
      return { id, state };
    case 'taken':
      return { id, state: isElsewhere ? 'running' : 'waiting' };
    case 'done':
      // A key may be remembered whose answer is forgotten.
      return result === undefined ? { id, state } : endedView(id, result);
    case 'failed':
      return endedView(id, result, error ?? 'Why it failed is not known any more.');
    case 'dropped':
      return { id, state: 'dead', error: error === undefined ? 'It was dropped' : `It was dropped: ${error}` };
    case 'poison':
    case 'expired':
    case 'malformed':
      return deadView(id, error ?? state, result);
  }
}

/** Shows what it did before it was given up by the last call that it had made. */
function deadView(id: string, reason: string, result: ToolResult | undefined): MessageView {
  const error = `It is a dead letter: ${reason}`;
  if (result === undefined) return { id, state: 'dead', error: `${error}; nothing was called` };
  return { id, state: 'dead', error, result };
}

/** Tells what became of a message; undefined for one that nobody knows any more. */
export function messageView(id: string, { history, running, records, turns }: MessageSources): MessageView | undefined {
  if (id === running) return { id, state: 'running' };
  const dead = records?.deadLetters.find((letter) => letter.id === id);
  if (dead !== undefined) {
    const taken = history.flatMap((entry) => (entry.type === 'message' && entry.id === id ? [entry.turn] : []));
    const answer = history.findLast((entry) => entry.type === 'tool_result' && taken.includes(entry.turn));
    return deadView(id, dead.reason, answer?.type === 'tool_result' ? answer.result : undefined);
  }
  if (records?.messages.some((message) => message.id === id) === true) return { id, state: 'waiting' };
  // The last turn counts, where a message was delivered more than once.
  const begun = history.findLast((entry) => entry.type === 'message' && entry.id === id);
  if (begun === undefined) return undefined;
  const last = history.findLast((entry) => entry.type === 'tool_result' && entry.turn === begun.turn);
  const record = turns.find(({ turn }) => turn === begun.turn);
  // Its end is still being written.
  if (last === undefined && record !== undefined && record.endedAt === undefined) return { id, state: 'running' };
  return endedView(id, last?.type === 'tool_result' ? last.result : undefined, record?.error);
}

/** Turns that are looked through for why one failed. */
const recentTurns = 200;
/** Pause before the record is asked again how a message ended, in ms: twice as late each time, up to the last. */
const firstPauseMs = 50;
const lastPauseMs = 1000;

interface MessageStatesParts {
  readonly gateway: Pick<Gateway, 'why'>;
  readonly clock: Clock;
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
}

interface Question {
  readonly session: string;
  readonly id: string;
  readonly resolve: (record: MessageRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * States of messages: of a session of this gateway as far as it knows itself, and else by the record. Several gateways that share a database all know the
 * record, whoever accepted a message and whoever processes it.
 */
export class MessageStates {
  readonly #parts: MessageStatesParts;
  #asked: Question[] = [];
  #isReading = false;

  constructor(parts: MessageStatesParts) {
    this.#parts = parts;
  }

  /** Undefined for a message that nobody knows any more. @throws ApiError while the record cannot be read */
  async view(session: ServedSession, id: string): Promise<MessageView | undefined> {
    const own = session.heldElsewhere ? undefined : await this.#ownView(session, id);
    if (own !== undefined) return own;
    const record = await this.record(session.id, id);
    return record && recordView(record, session.heldElsewhere);
  }

  /** A message as it is on record. Many that are asked for at once are read one after the other. @throws ApiError while it cannot be read */
  record(session: string, id: string): Promise<MessageRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ session, id, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /**
   * Resolves once the record says that a message has ended or knows it not, or when it is given up. An outage of the record is waited through.
   * @param until - on the clock, in ms.
   */
  async ended(session: string, id: string, until: number, isGivenUp: () => boolean): Promise<void> {
    const { clock } = this.#parts;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(lastPauseMs, 2 * pauseMs)) {
      const found = await this.record(session, id).catch(() => 'unreadable' as const);
      if (found !== 'unreadable' && (found === undefined || isOver(recordView(found, true)))) return;
      const leftMs = until - clock.now();
      if (leftMs <= 0 || isGivenUp()) return;
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, Math.min(pauseMs, leftMs)));
    }
  }

  async #ownView(session: ServedSession, id: string): Promise<MessageView | undefined> {
    const { gateway, read } = this.#parts;
    const running = gateway.why(session.id).turn?.message;
    const records = await read((reader) => reader.session(session.id)).catch(() => undefined);
    const turns = await read((reader) => reader.turns(session.id, recentTurns)).catch(() => []);
    return messageView(id, { history: session.history, running, records, turns });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#asked.length > 0) {
      const questions = this.#asked;
      this.#asked = [];
      const answers = this.#parts.read(async (reader) => {
        for (const { session, id, resolve } of questions) resolve(await reader.message(session, id));
      });
      // Questions that have their answer keep it.
      await answers.catch(() => {
        for (const { reject } of questions) reject(unreadable());
      });
    }
    this.#isReading = false;
  }
}
