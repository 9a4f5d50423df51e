import { describe, expect, it } from 'vitest';
import type { CallPath } from '../../../src/calls/face.ts';
import type { McpAnswer } from '../../../src/protocol/mcp/face.ts';
import { AnsweredCalls } from '../../../proxy/mcp/answeredCalls.ts';
import type { ClientCall } from '../../../proxy/mcp/clientCall.ts';

const limit = 'timed out';

/** Answers so many calls, each a ms after the one before, of so many bytes. */
function answered(count: number, bytes = 10) {
  const calls = new AnsweredCalls();
  const value = { kind: 'answer', result: {} } as McpAnswer;
  const call = (id: number): ClientCall =>
    ({
      request: { key: `n${id}` },
      row: { number: id, settings: { keep: {} } },
      startedAt: 0,
      answerBytes: bytes,
    }) as unknown as ClientCall;
  for (let id = 1; id <= count; id++) calls.add(call(id), { ok: true, value }, id);
  /** Those that are given anew once their client cancels these, after so many ms. */
  return (ids: readonly number[], now = count): readonly number[] => {
    const given: number[] = [];
    const starts = { takeBack: ({ number }: { number: number }) => given.push(number) };
    for (const id of ids)
      calls.cancelled(`n${id}`, limit, now, { starts } as unknown as CallPath<ClientCall, McpAnswer>);
    return given;
  };
}

describe('calls that were answered a moment ago', () => {
  it.each([1, 32, 33, 64, 65, 200, 1001])('[R-18] are the last 32 of %i, each given back once', (count) => {
    const cancelled = answered(count);
    const all = Array.from({ length: count }, (_, at) => at + 1);
    expect(cancelled(all)).toEqual(all.slice(-32));
    expect(cancelled(all)).toEqual([]);
  });

  it('[R-18] are no more than their bytes allow', () => {
    expect(answered(40, 1_000_000)([36, 37, 38, 39, 40])).toEqual([37, 38, 39, 40]);
  });

  it('[R-18] are known for ten seconds', () => {
    expect(answered(2)([1, 2], 10_001)).toEqual([2]);
  });
});
