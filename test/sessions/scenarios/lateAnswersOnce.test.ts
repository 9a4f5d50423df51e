import { describe, expect, it } from 'vitest';
import { EarlierAnswers } from '../../../src/sessions/earlierAnswers.ts';
import type { HistoryEntry } from '../../../src/sessions/history.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';

const kept: ToolResult = {
  status: 'error',
  synthetic: true,
  error: 'No sign of life within 2s: no answer came yet, and its work goes on; make the same call again within 10m.',
  kind: 'timeout',
  outcome: 'unknown',
  elapsedMs: 2000,
  attempts: 1,
  retries: 0,
  recoverable: false,
  retryable: true,
  keptUntil: 600_000,
};
const paid: ToolResult = { status: 'ok', value: 'paid', retries: 0, joined: true };

/** The answers to the earlier deliveries of a message, each of which called `pay` once and was given one of these. */
function answersOf(...results: ToolResult[]): (joins: boolean) => ToolResult | undefined {
  const entries = results.flatMap((result, index): HistoryEntry[] => [
    { type: 'tool_call', turn: index + 1, call: `c${index}`, integration: 'm', tool: 'pay', input: { ref: 1 }, at: 0 },
    { type: 'tool_result', turn: index + 1, call: `c${index}`, result, at: 0 },
  ]);
  const turn = { number: results.length + 1, message: 'main-1', first: { number: 1, id: 'main-1', deliveries: 1 } };
  const earlier = new EarlierAnswers(entries, [], turn as never);
  return (joins) => earlier.take('m', 'pay', { ref: 1 }, joins);
}

describe('a message that is delivered again, whose call was kept', () => {
  it('[R-18] [G-14] has its call join what goes on, or be given what came of that', () => {
    expect(answersOf(kept)(true)).toBeUndefined();
  });

  it('[R-18] [G-14] is told that nothing is known where nothing goes on any more, and the call is not made', () => {
    const answer = answersOf(kept)(false);
    expect(answer).toMatchObject({ status: 'error', outcome: 'unknown', retryable: false, kind: 'timeout' });
    expect(answer).not.toHaveProperty('keptUntil');
    expect((answer as { error: string }).error).not.toContain('goes on');
    expect((answer as { error: string }).error).toContain('check before repeating');
  });

  it('[R-18] [G-14] is given the late answer that another delivery was given', () => {
    const take = answersOf(kept, paid);
    expect([take(false), take(false), take(false)]).toMatchObject([{ value: 'paid' }, { value: 'paid' }, undefined]);
  });
});
