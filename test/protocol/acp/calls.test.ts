import { describe, expect, it } from 'vitest';
import { HeardCalls } from '../../../src/policy/spinning/heardCalls.ts';
import { ownLimits } from '../../../src/policy/spinning/spinningRule.ts';
import { AcpCalls } from '../../../src/protocol/acp/calls.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { hearing } from '../../support/hearing.ts';

function listen() {
  const { caller, told, ends } = hearing(new SimulatedClock());
  const calls = new AcpCalls(new HeardCalls(ownLimits, caller));
  const begins = (toolCallId: string, more: object = {}): void =>
    calls.heard({ sessionUpdate: 'tool_call', toolCallId, ...more });
  const goesOn = (toolCallId: string, more: object): void =>
    calls.heard({ sessionUpdate: 'tool_call_update', toolCallId, ...more });
  return { told, ends, begins, goesOn };
}

describe('the calls of a session of the agent protocol', () => {
  it('[G-15] are known by what they began with, although a thousand before them never ended', () => {
    const { ends, begins, goesOn } = listen();
    for (let nth = 0; nth < 1500; nth++) begins(`lost-${nth}`, { kind: 'edit', rawInput: { nth } });
    const content = [{ type: 'content', content: { type: 'text', text: 'no such file' } }];
    for (let nth = 0; nth < 20; nth++) {
      begins(`${nth}`, { kind: 'edit', rawInput: { path: 'a.ts' } });
      goesOn(`${nth}`, { status: 'failed', content });
    }
    expect(ends).toMatchObject([{ kind: 'spinning', message: expect.stringContaining('"no such file"') as unknown }]);
  });

  it('[G-15] are judged by the first 10,000 characters of what a terminal printed', () => {
    const play = (length: number) => {
      const { told, begins, goesOn } = listen();
      for (let nth = 0; nth < 4; nth++) {
        begins(`${nth}`, { kind: 'read', rawInput: { path: 'log' } });
        for (const data of ['line\n'.repeat(length / 5), `item ${nth}`])
          goesOn(`${nth}`, { _meta: { terminal_output_delta: { data } } });
        goesOn(`${nth}`, { status: 'completed' });
      }
      return told.map(({ step, form }) => `${step} ${form}`);
    };
    expect([play(9_900), play(10_000)]).toEqual([[], ['notice read']]);
  });
});
