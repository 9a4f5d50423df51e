import { describe, expect, it } from 'vitest';
import { eventSentence } from '../../cli/eventSentence.ts';

const failure = {
  ...{ error: 'no answer', kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown', retryable: false },
  ...{ type: 'mcp', retry_count: 1, elapsed_ms: 61_200, tool: 'pay', session: 'desk', call: 'kb-2' },
};

describe('an event as a sentence', () => {
  it.each([
    [
      'integration/failure',
      failure,
      'no answer (timeout, idle_timeout after 1 retry in 1m1s; tool pay; session desk; call kb-2; it may have taken effect; not to be tried again as it is)',
    ],
    [
      'integration/failure',
      { error: 'no answer', kind: 'timeout', outcome: 'unknown', effect: 'readOnly', retryable: true },
      'no answer (timeout; it changes nothing; may be tried again)',
    ],
    [
      'integration/failure',
      { error: 'no answer', kind: 'timeout', outcome: 'unknown', effect: 'idempotent', retryable: true },
      'no answer (timeout; it may have taken effect, which repeating does not do twice; may be tried again)',
    ],
    [
      'integration/failure',
      { error: 'no answer', kind: 'timeout', outcome: 'unknown', effect: 'mutating', retryable: false },
      'no answer (timeout; it may have taken effect; not to be tried again as it is)',
    ],
    [
      'integration/failure',
      { error: 'open', kind: 'circuit_open', met_kind: 'transient', met_error: 'down', retryable: true, status: 503 },
      'open (circuit_open, its last attempt transient; may be tried again; status=503)',
    ],
    [
      'integration/refused',
      { error: 'open', kind: 'circuit_open', refused: 2, retry_after_ms: 900, call: 'kb-3' },
      'open (refused: circuit_open; call kb-3; may be tried again in 900ms; 2 refusals before it not told)',
    ],
    [
      'integration/refused',
      { error: 'no program', kind: 'unavailable', refused: 0, retryable: false },
      'no program (refused: unavailable; not to be tried again as it is)',
    ],
    ['integration/crashed', { message: 'exited with code 3' }, 'exited with code 3'],
    ['integration/restarted', { down_ms: 1800 }, 'is back after 1.8s'],
    [
      'alert/raised',
      {
        ...{ error: 'down', alert: 'a-1', because: 'crashes', failures: 0, crashes: 5, kind: 'crash' },
        window_ms: 600_000,
      },
      'down (last: crash; 5 crashes within 10m; alert a-1)',
    ],
    [
      'alert/cleared',
      { alert: 'a-1', by: 'closed', failures: 1, crashes: 2, after_ms: 60_000 },
      'is over after 1m: the circuit closed (1 failure and 2 crashes in all; alert a-1)',
    ],
    ['process/exited', { code: 1, stack: 'at x', call: 'kb-4' }, 'code=1 call=kb-4'],
    ['hook/error', { error: 'it hung', event_type: 'Stop', session_key: null }, 'it hung (event_type=Stop)'],
  ])('[L-6] is told of %s, with what else is on record', (name, metadata, text) => {
    const [category = '', type = ''] = name.split('/');
    expect(eventSentence({ category, type, metadata })).toBe(text);
  });

  it('[L-6] cuts a message that leaves no room for ids, and no other', () => {
    const tool = 'search_the_knowledge_base_of_customers';
    const text = (error: string) =>
      eventSentence({ category: 'integration', type: 'failure', metadata: { ...failure, error, tool } });
    expect(text('l'.repeat(240))).toContain('l'.repeat(240));
    expect(text('l'.repeat(500))).toMatch(/^l{239}… \(timeout.*call kb-2/);
    const plain = (error: string) => eventSentence({ category: 'hook', type: 'error', metadata: { error } });
    expect(plain('l'.repeat(500))).toBe('l'.repeat(500));
  });

  it('[O-9] leaves out how long an isolation lasts', () => {
    const metadata = { error: 'held', open_for_ms: 'Infinity', tool: 'pay' };
    expect(eventSentence({ category: 'breaker', type: 'opened', metadata })).toBe('held (tool=pay)');
  });
});
