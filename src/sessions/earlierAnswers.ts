import { risks } from '../policy/failures/syntheticResult.ts';
import { canonicalJson } from '../policy/text/canonicalJson.ts';
import type { HistoryEntry } from './history.ts';
import type { TurnScope } from './sessionScope.ts';
import type { SyntheticToolError, ToolResult } from './toolResult.ts';

/** Mark of an answer that was given again: it is told from those that a tool gave. */
const how = 'an earlier delivery of its message had this answer';

/**
 * Answers of tools with a reconcile rule, or that are called `once`, to earlier deliveries of a message. An equal call of the delivery under way gets the
 * same answer, each once: a message that is delivered again does nothing twice. Nothing that is known not to have happened is an answer.
 */
export class EarlierAnswers {
  readonly #answers = new Map<string, ToolResult[]>();

  /** @param kept - what the ledger has of it. @param turn - the one under way. */
  constructor(kept: readonly HistoryEntry[], history: readonly HistoryEntry[], turn: EarlierTurns) {
    const calls = new Map<string, string>();
    const known = new Set(kept.map((entry) => (entry.type === 'message' ? '' : entry.call)));
    const others = earlierTurns(history, turn).filter((entry) => entry.type !== 'message' && !known.has(entry.call));
    for (const entry of [...kept, ...others]) {
      if (entry.turn >= turn.number) continue;
      if (entry.type === 'tool_call') calls.set(entry.call, keyOf(entry.integration, entry.tool, entry.input));
      const key = entry.type === 'tool_result' && isAnswer(entry.result) ? calls.get(entry.call) : undefined;
      if (key === undefined || entry.type !== 'tool_result') continue;
      const known = this.#answers.get(key) ?? [];
      const { result } = entry;
      // What joined a kept call tells what came of that, too.
      const told = result.joined === true ? known.map((each) => (isKept(each) ? result : each)) : known;
      this.#answers.set(key, [...told, result]);
    }
  }

  /** @param joins - an equal call that is made joins a kept one, or is given what came of that: it tells more than that one was kept. */
  take(integration: string, tool: string, input: unknown, joins: boolean): ToolResult | undefined {
    const answer = this.#answers.get(keyOf(integration, tool, input))?.shift();
    if (answer === undefined || (joins && isKept(answer))) return undefined;
    if (isKept(answer)) return lostOf(answer);
    if (answer.status === 'ok') return { ...answer, retries: 0, reconciled: how };
    return 'synthetic' in answer ? { ...answer, retries: 0, how } : answer;
  }
}

const isKept = (result: ToolResult): result is SyntheticToolError =>
  'synthetic' in result && result.keptUntil !== undefined;

/** The answer of a call that was kept, where nothing goes on any more and nothing is known of what it came to. */
function lostOf(kept: SyntheticToolError): ToolResult {
  const { keptUntil: _, ...answer } = kept;
  const error = `${how} that no answer came in time, and what came of it is lost: outcome unknown; ${risks.mutating}.`;
  return { ...answer, error: `Not made again: ${error}`, retries: 0, outcome: 'unknown', retryable: false, how };
}

type EarlierTurns = Pick<TurnScope, 'number' | 'message' | 'first'>;

/**
 * Entries of the turns that delivered its message before, also as the dead letter that was sent again. What is kept of a message is its last delivery alone;
 * but one that is delivered again goes first, so that the turns of all its deliveries follow one another.
 */
function earlierTurns(history: readonly HistoryEntry[], { number, message, first }: EarlierTurns): HistoryEntry[] {
  const earlier = history.filter(({ turn }) => turn < number);
  const ids = new Map(earlier.flatMap((entry) => (entry.type === 'message' ? [[entry.turn, entry.id] as const] : [])));
  let owner = message;
  const isOurs = ({ turn }: HistoryEntry): boolean => {
    owner = ids.get(turn) ?? owner;
    return owner === message || owner === first.id;
  };
  return earlier.toReversed().filter(isOurs).toReversed();
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
