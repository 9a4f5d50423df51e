import { describe, expect, it } from 'vitest';
import { AgentRuns } from '../../../../src/integrations/subprocess/agentRuns.ts';
import type { AttemptContext } from '../../../../src/calls/operation.ts';
import { exitCodeOf } from '../../../../cli/run/exitCode.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import type { FailureFacts } from '../../../../src/policy/failures/failure.ts';
import { presets } from '../../../../src/policy/presets.ts';

const stream = ['-p', '--output-format', 'stream-json', '--verbose'];
const passed: FailureFacts = {
  kind: 'timeout',
  reason: 'overall_timeout',
  message: 'It exceeded timeout (15s) and was terminated.',
  outcome: 'unknown',
};

/** An agent that has printed these messages when a limit passes. */
async function limited(agent: 'claude' | 'codex', messages: readonly object[], maxAttempts = 1) {
  const refused: string[] = [];
  const args = agent === 'codex' ? ['exec', '--json'] : stream;
  const env = { CODEX_HOME: '/nowhere' };
  const runs = new AgentRuns(
    new SimulatedClock(),
    { command: agent, args, env },
    { retry: presets.codex.retry, onRefused: (why) => void refused.push(why) },
  );
  const signal = new AbortController().signal;
  const touch = (): void => undefined;
  const context: AttemptContext = {
    call: {},
    attempt: 1,
    maxAttempts,
    mayRepeat: maxAttempts > 1,
    effect: undefined,
    signal,
    touch,
    spent: touch,
    rateLimit: touch,
  };
  const run = await runs.prepare({}, context);
  for (const message of messages) run.input.onOutput?.(Buffer.from(`${JSON.stringify(message)}\n`), 'stdout');
  const facts = runs.amendTimeout(passed, context);
  return {
    facts,
    refused,
    code: exitCodeOf({ ...facts, integration: 'x', attempts: 1, retryable: false }, undefined, true),
  };
}

const notice = (why: string) => ({ type: 'error', message: `Reconnecting... 1/5 (${why})` });
const spent = 'exceeded retry limit, last status: 429 Too Many Requests';
const retry = (fields: object) => ({
  type: 'system',
  subtype: 'api_retry',
  attempt: 1,
  max_retries: 10,
  retry_delay_ms: 560,
  ...fields,
});

describe('a limit that passes while an agent waits to ask its API again', () => {
  it('[R-3] [M-13] is the rate limit that Codex waited for', async () => {
    const { facts, refused, code } = await limited('codex', [notice(spent)], 3);
    expect(facts).toMatchObject({ kind: 'rate_limit', reason: 'overall_timeout', shouldRetry: false });
    expect(facts.message).toBe(
      `It exceeded timeout (15s) and was terminated; Codex said last: Reconnecting... 1/5 (${spent})`,
    );
    expect({ code, refused }).toEqual({ code: 75, refused: ['Codex does not tell how long the API asks to wait'] });
  });

  it('[I-4] says what Codex and Claude said last', async () => {
    const codex = await limited('codex', [notice('HTTP 503')]);
    expect(codex).toMatchObject({ code: 124, facts: { kind: 'timeout' } });
    expect(codex.facts.message).toMatch(/terminated; Codex said last: Reconnecting... 1\/5 \(HTTP 503\)$/);
    const claude = await limited('claude', [retry({ error_status: 503, attempt: 6 })]);
    expect(claude).toMatchObject({ code: 124, facts: { kind: 'timeout' } });
    expect(claude.facts.message).toMatch(/terminated; Claude said last: it asks again \(6 of 10: HTTP 503\)$/);
  });

  it('[R-3] is the rate limit that Claude waited for, with its hint', async () => {
    const told = await limited('claude', [retry({ error_status: 429, retry_delay_ms: 31_642.4 })]);
    expect(told).toMatchObject({ code: 75, facts: { kind: 'rate_limit', retryAfterMs: 31_643 } });
    expect(told.facts.shouldRetry).toBeUndefined();
    const untold = await limited('claude', [retry({ error_status: 429 })]);
    expect(untold).toMatchObject({ code: 75, facts: { kind: 'rate_limit', shouldRetry: false } });
  });

  it('[I-4] says nothing of what the agent has got over', async () => {
    const item = { type: 'item.completed', item: { type: 'agent_message', text: 'on we go' } };
    expect((await limited('codex', [notice(spent), item])).facts).toMatchObject({
      kind: 'timeout',
      message: passed.message,
    });
    const answers = [
      { type: 'assistant', message: { content: [] } },
      { type: 'stream_event', event: {} },
    ];
    for (const answer of answers) {
      const { facts } = await limited('claude', [retry({ error_status: 429 }), answer]);
      expect(facts).toMatchObject({ kind: 'timeout', message: passed.message });
    }
  });
});
