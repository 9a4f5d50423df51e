import type { FaultReport, TourReport } from '../../../testing/demo/report.ts';

export const httpSilent: FaultReport = {
  fault: 'http-silent',
  ok: true,
  problems: [],
  got: { status: 'error', kind: 'timeout', synthetic: true, retries: 2, message: 'No answer within 600ms' },
  elapsedMs: 2412,
  next: { heartbeats: 25, answered: true },
  recorded: ['session/watchdog_fired', 'session/turn_ended'],
};

/** That of the longest texts. */
export const httpOutage: FaultReport = {
  fault: 'http-outage',
  ok: true,
  problems: [],
  got: {
    status: 'error',
    kind: 'circuit_open',
    synthetic: true,
    retries: 1,
    message: 'The circuit of http-outage is open: HTTP 503 Service Unavailable; it is tried again in 5s',
  },
  elapsedMs: 112,
  next: { heartbeats: 2, answered: true },
  recorded: ['breaker/opened'],
};

export const tour: TourReport = {
  ok: true,
  interrupted: false,
  elapsedMs: 7500,
  faults: [httpSilent, httpOutage],
  sessions: 6,
  messages: { sent: 226, heartbeats: 210, duringRetries: 83 },
  processes: { started: 6, left: [] },
  store: { kind: 'sqlite', path: '/tmp/unwedge-demo/demo.sqlite' },
  problems: [],
};
