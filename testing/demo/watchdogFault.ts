import type { Fault } from './fault.ts';

/** Shortened for the tour, in ms: how long the session waits for a tool in all. */
export const watchdogMs = 1500;

const never = Number.POSITIVE_INFINITY;

export const watchdogFault: Fault = {
  name: 'tool-hangs',
  lane: 'watchdog',
  integration: 'tool-hangs',
  declare({ gateway }) {
    const policy = { limits: { idleMs: never, attemptMs: never, overallMs: never } };
    // It does not even listen to its signal.
    gateway.integration('tool-hangs', { policy }, () => new Promise(() => undefined));
  },
  run: (turn) => turn.tool('tool-hangs', 'query'),
  expected: {
    outcome: 'watchdog',
    synthetic: true,
    retries: [0, 0],
    leastMs: watchdogMs,
    records: [
      { type: 'session/watchdog_fired', fields: { rule: 'tool_call', limit_ms: watchdogMs } },
      { type: 'integration/failure', fields: { kind: 'watchdog' } },
      { type: 'session/tool_failed', fields: { kind: 'watchdog', synthetic: true } },
    ],
  },
};
