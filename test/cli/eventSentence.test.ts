import { describe, expect, it } from 'vitest';
import { eventSentence } from '../../src/cli/eventSentence.ts';

const failure = {
  ...{ error: 'no answer', kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown', retryable: false },
  ...{ type: 'mcp', retry_count: 1, elapsed_ms: 61_200, tool: 'pay', session: 'desk', call: 'kb-2' },
};

describe('an event as a sentence', () => {
  it.each([
    [
      'integration/failure',
      failure,
      'no answer (timeout, idle_timeout after 1 retry in 1m2s; it may have taken effect; not to be tried again as it is; tool pay; session desk; call kb-2)',
    ],
    [
      'integration/failure',
      { error: 'open', kind: 'circuit_open', met_kind: 'transient', met_error: 'down', retryable: true, status: 503 },
      'open (circuit_open, its last attempt transient; may be tried again; status=503)',
    ],
    [
      'integration/refused',
      { error: 'open', kind: 'circuit_open', refused: 2, retry_after_ms: 900, call: 'kb-3' },
      'open (refused: circuit_open; may be tried again in 900ms; 2 refusals before it not told; call kb-3)',
    ],
    ['integration/crashed', { message: 'exited with code 3' }, 'exited with code 3'],
    ['integration/restarted', { down_ms: 1800 }, 'is back after 2s'],
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
});
