import type { PolicyInput, ToolRequest } from '../index.ts';
import type { Expected, Fault } from './fault.ts';
import type { FaultName } from './faultNames.ts';

/** Shortened for the tour, in ms: how long an attempt waits for an answer. */
const answerMs = 600;

function httpFault(name: FaultName, expected: Expected, policy?: PolicyInput): Fault {
  return {
    name,
    lane: 'http',
    integration: name,
    declare({ gateway, http }) {
      gateway.integration(name, { effect: 'readOnly', policy }, (_: ToolRequest, { signal }) =>
        get(`${http.url}/${name}`, signal),
      );
    },
    run: (turn) => turn.tool(name, 'get'),
    // One owner retries: as many requests reached the upstream as there were attempts.
    async settle({ http }) {
      const requests = http.requests(`/${name}`);
      const [least, most] = expected.retries;
      return requests < least + 1 || requests > most + 1 ? `${requests} requests reached the upstream` : undefined;
    },
    expected,
  };
}

async function get(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal });
  if (response.ok) return response.text();
  await response.body?.cancel();
  const { status, statusText, headers } = response;
  throw Object.assign(new Error(`HTTP ${status} ${statusText}`), { status, headers });
}

export const httpFaults: readonly Fault[] = [
  httpFault('http-429', {
    outcome: 'ok',
    retries: [1, 1],
    cause: 'HTTP 429',
    waitsMs: [1000],
    leastMs: 1000,
    mostMs: 5000,
    records: [{ type: 'integration/paused', fields: { pause_ms: 1000 } }],
  }),
  httpFault('http-503', {
    outcome: 'transient',
    retries: [2, 2],
    cause: 'HTTP 503',
    waitsMs: [100, 500],
    leastMs: 600,
    mostMs: 5000,
    records: [
      { type: 'integration/failure', fields: { kind: 'transient', status: 503, retry_count: 2 } },
      { type: 'session/tool_failed', fields: { kind: 'transient', retries: 2 } },
    ],
  }),
  httpFault('http-401', {
    outcome: 'auth',
    retries: [0, 0],
    mostMs: 3000,
    records: [
      { type: 'integration/failure', fields: { kind: 'auth', status: 401, retry_count: 0 } },
      { type: 'session/tool_failed', fields: { kind: 'auth', retries: 0 } },
    ],
  }),
  httpFault(
    'http-silent',
    {
      outcome: 'timeout',
      synthetic: true,
      retries: [2, 2],
      waitsMs: [100, 500],
      leastMs: 3 * answerMs + 600,
      mostMs: 8000,
      records: [
        { type: 'integration/failure', fields: { kind: 'timeout', reason: 'attempt_timeout', retry_count: 2 } },
        { type: 'session/tool_failed', fields: { kind: 'timeout', synthetic: true } },
      ],
    },
    { limits: { attemptMs: answerMs } },
  ),
];
