import type { HistoryEntry } from '../sessions/history.ts';
import type { ToolResult } from '../sessions/toolResult.ts';
import type { SessionRecords, TurnRecord } from '../store/storeReader.ts';
import type { AgentAnswer } from './agentTurns.ts';
import type { Declined, MessageResult } from './messageHandler.ts';

/** What became of a message, as its sender is told. */
export interface MessageView {
  readonly id: string;
  /**
   * `waiting` in the mailbox, `running`, `done`, `failed` (the tool or the agent answered with an error, or nobody answered), `declined` by a hook,
   * `dead`: it is not delivered any more.
   */
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'declined' | 'dead';
  /** What the tool answered, or the agent. @defaultValue nothing, while it is under way */
  readonly result?: ToolResult | undefined;
  /** One line, of a message that failed or was declined. */
  readonly error?: string | undefined;
}

/** How a message ended whose turn was waited for. @param failure - of its turn, where it did not end by itself. */
export function endedView(id: string, result: MessageResult | undefined, failure?: string): MessageView {
  if (failure !== undefined) return { id, state: 'failed', error: failure };
  if (result === undefined) return { id, state: 'done' };
  if (result.status === 'declined') return { id, state: 'declined', error: (result as Declined).error };
  const answer = result as ToolResult;
  const error = errorIn(answer);
  return error === undefined ? { id, state: 'done', result: answer } : { id, state: 'failed', result: answer, error };
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

/** What is known of a session when somebody asks for one of its messages. */
export interface MessageSources {
  readonly history: readonly HistoryEntry[];
  /** The message that is being processed. */
  readonly running: string | undefined;
  readonly records: SessionRecords | undefined;
  /** The last turns on record. */
  readonly turns: readonly TurnRecord[];
}

/** What became of a message; undefined for one that nobody knows any more. */
export function messageView(id: string, { history, running, records, turns }: MessageSources): MessageView | undefined {
  if (id === running) return { id, state: 'running' };
  const dead = records?.deadLetters.find((letter) => letter.id === id);
  if (dead !== undefined) return { id, state: 'dead', error: `It is a dead letter: ${dead.reason}` };
  if (records?.messages.some((message) => message.id === id) === true) return { id, state: 'waiting' };
  // Of one that was delivered more than once, the last turn counts.
  const begun = history.findLast((entry) => entry.type === 'message' && entry.id === id);
  if (begun === undefined) return undefined;
  const error = turns.find(({ turn }) => turn === begun.turn)?.error;
  if (error !== undefined) return { id, state: 'failed', error };
  const last = history.findLast((entry) => entry.type === 'tool_result' && entry.turn === begun.turn);
  return endedView(id, last?.type === 'tool_result' ? last.result : undefined);
}
