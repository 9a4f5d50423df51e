import { canonicalJson } from '../policy/text/canonicalJson.ts';
import type { HistoryEntry } from './history.ts';
import type { ToolResult } from './toolResult.ts';

/** Mark of an answer that was given again: it is told from those that a tool gave. */
const how = 'an earlier delivery of its message had this answer';

/**
 * Answers of tools with a reconcile rule, or that are called `once`, to earlier deliveries of a message. An equal call of the delivery under way gets the
 * same answer, each once: a message that is delivered again does nothing twice. Nothing that is known not to have happened is an answer.
 */
export class EarlierAnswers {
  readonly #answers = new Map<string, ToolResult[]>();

  /** @param message - its id. @param turn - the one under way. */
  constructor(history: readonly HistoryEntry[], message: string, turn: number) {
    const calls = new Map<string, string>();
    const first = lastTurnOfOthers(history, message, turn) + 1;
    for (const entry of history) {
      if (entry.turn < first || entry.turn >= turn) continue;
      if (entry.type === 'tool_call') calls.set(entry.call, keyOf(entry.integration, entry.tool, entry.input));
      const key = entry.type === 'tool_result' && isAnswer(entry.result) ? calls.get(entry.call) : undefined;
      if (key === undefined || entry.type !== 'tool_result') continue;
      this.#answers.set(key, [...(this.#answers.get(key) ?? []), entry.result]);
    }
  }

  take(integration: string, tool: string, input: unknown): ToolResult | undefined {
    const answer = this.#answers.get(keyOf(integration, tool, input))?.shift();
    if (answer === undefined) return undefined;
    if (answer.status === 'ok') return { ...answer, retries: 0, reconciled: how };
    return 'synthetic' in answer ? { ...answer, retries: 0, how } : answer;
  }
}

/**
 * The last turn before this one that processed another message. What is kept of a message is its last delivery alone; but a message that is
 * delivered again goes first, so that the turns of all its deliveries follow one another.
 */
function lastTurnOfOthers(history: readonly HistoryEntry[], message: string, turn: number): number {
  let last = 0;
  for (const entry of history) {
    if (entry.type === 'message' && entry.id !== message && entry.turn < turn) last = Math.max(last, entry.turn);
  }
  return last;
}

/** Tells whether it is the answer to an earlier delivery, given again. */
export const isGivenAgain = (result: ToolResult): boolean =>
  (result.status === 'ok' ? result.reconciled : 'how' in result ? result.how : undefined) === how;

/** Tells whether its call took effect, or may have. */
function isAnswer(result: ToolResult): boolean {
  if (isGivenAgain(result)) return false;
  if (result.status === 'ok') return true;
  if (!('synthetic' in result)) return false;
  return result.outcome === 'done' || result.outcome === 'unknown' || result.outcome === 'cancelled';
}

function keyOf(integration: string, tool: string, input: unknown): string {
  return JSON.stringify([integration, tool, canonicalJson(input ?? null)]);
}
