import { describe, expect, it } from 'vitest';
import { McpJudge } from './mcpJudge.mjs';

/** A judge that has seen a request, and an answer to it when asked for. */
function judgeOf(...answers: readonly object[]): McpJudge {
  const judge = new McpJudge('kb');
  judge.sent({ id: 1, method: 'tools/call' });
  for (const answer of answers) judge.received(answer);
  return judge;
}
const answer = { id: 1, result: {} };
const progress = { method: 'notifications/progress', params: { progressToken: 1 } };
const cancelled = { method: 'notifications/cancelled', params: { requestId: 1 } };

describe('the judge of chaos under MCP servers', () => {
  it('[P-3] has nothing against one answer', () => {
    const judge = judgeOf(progress, answer);
    judge.finish();
    expect(judge).toMatchObject({ violations: [], answered: 1, lost: 0, refused: 0, open: 0 });
  });

  it('[P-3] notices an answer that was lost', () => {
    const judge = judgeOf();
    judge.finish();
    expect(judge.violations).toEqual(['kb: 1 (tools/call) was never answered']);
  });

  it('[P-3] notices an answer that came twice', () => {
    expect(judgeOf(answer, answer).violations).toEqual(['kb: 1 was answered twice, or never asked']);
  });

  it('[P-3] tells ids of different types apart', () => {
    const judge = judgeOf({ id: '1', result: {} });
    judge.finish();
    expect(judge.violations).toHaveLength(2);
  });

  it('[P-3] notices progress of a request that has ended', () => {
    expect(judgeOf(answer, progress).violations).toEqual(['kb: progress came for 1, which had ended']);
  });

  it('[P-3] allows at most one answer to a request that was cancelled', () => {
    const judge = judgeOf();
    judge.sent(cancelled);
    judge.finish();
    expect(judge.violations).toEqual([]);
    judge.received(answer);
    expect(judge.violations).toEqual([]);
    judge.received(answer);
    expect(judge.violations).toHaveLength(1);
  });

  it('[P-3] notices a tool call that ends in an error of the protocol, and counts what is said of a loss', () => {
    const error = { code: -32000, message: 'Connection closed' };
    expect(judgeOf({ id: 1, error }).violations).toHaveLength(1);
    const content = [{ type: 'text', text: 'The server ended; the outcome is unknown.' }];
    expect(judgeOf({ id: 1, result: { isError: true, content } })).toMatchObject({ violations: [], lost: 1 });
  });

  it('[P-3] notices a question of the server whose id is open already', () => {
    const question = { id: 0, method: 'sampling/createMessage' };
    const judge = judgeOf(question, question);
    expect(judge.violations).toHaveLength(1);
    const other = judgeOf(question, { method: 'notifications/cancelled', params: { requestId: 0 } }, question);
    expect(other.violations).toEqual([]);
  });

  it('[P-3] allows the client one answer to a question that was called off', () => {
    const judge = judgeOf({ id: 0, method: 'sampling/createMessage' });
    judge.received({ method: 'notifications/cancelled', params: { requestId: 0 } });
    judge.sent({ id: 0, result: {} });
    expect(judge.violations).toEqual([]);
    judge.sent({ id: 0, result: {} });
    expect(judge.violations).toHaveLength(1);
  });

  it('[M-6] notices an answer that came more than 25 s after the death of the server', () => {
    let now = 0;
    const judge = new McpJudge('kb', () => now);
    const ask = (id: number): void => judge.sent({ id, method: 'tools/call' });
    ask(1);
    ask(2);
    now = 40_000;
    judge.serverDied();
    ask(3);
    now = 65_000;
    judge.received({ id: 1, result: {} });
    expect(judge).toMatchObject({ violations: [], slowestMs: 25_000 });
    now = 65_001;
    judge.received({ id: 2, result: {} });
    judge.received({ id: 3, result: {} });
    expect(judge.violations).toEqual(['kb: 2 (tools/call) was answered 25001 ms after its server had died']);
  });

  it('[M-6] counts from the last death that a request met', () => {
    let now = 0;
    const judge = new McpJudge('kb', () => now);
    judge.sent({ id: 1, method: 'tools/call' });
    judge.serverDied();
    now = 20_000;
    judge.serverDied();
    now = 40_000;
    judge.received({ id: 1, result: {} });
    expect(judge).toMatchObject({ violations: [], slowestMs: 20_000 });
  });

  it('[P-3] notices that the client was disconnected', () => {
    const judge = judgeOf(answer);
    judge.disconnected();
    expect(judge.violations).toEqual(['kb: the client was disconnected']);
  });
});
