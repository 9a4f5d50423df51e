import type { Gateway, Integration, PolicyInput, ToolRequest } from '../../src/index.ts';
import type { UpstreamScript } from '../faultyUpstream.ts';
import type { Expected, Fault } from './fault.ts';
import type { FaultName } from './faultNames.ts';
import { pause } from './pause.ts';

/** Shortened for the tour, in ms: how long an attempt waits for an answer. */
const answerMs = 600;
/** Shortened too: how long an open circuit waits before it is probed. */
const outageMs = 400;

/** An HTTP service that is throttled, down, locked and silent, each under a path of its own. */
export const httpScript: UpstreamScript = {
  '/http-429': [{ status: 429, headers: { 'retry-after': '1' }, body: 'one moment\n' }, { body: 'here you are\n' }],
  '/http-503': [{ status: 503, body: 'down for maintenance\n' }],
  // Up again, but not at once, so that a person who watches sees the circuit half open.
  '/http-outage': [
    { status: 503, body: 'down\n' },
    { status: 503, body: 'down\n' },
    { body: 'up again\n', afterMs: 250 },
  ],
  '/http-401': [{ status: 401, body: 'who are you?\n' }],
  '/http-silent': [{ do: 'hang' }],
};

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
    // Retries have one owner: as many requests reached the upstream as there were attempts.
    async settle({ http }) {
      const requests = http.requests(`/${name}`);
      const [least, most] = expected.retries;
      return requests < least + 1 || requests > most + 1 ? `${requests} requests reached the upstream` : undefined;
    },
    expected,
  };
}

/** The circuit opens, so that what is down is left alone, and closes when a probe finds it up again. */
function httpOutage(): Fault {
  const name = 'http-outage';
  const breaker = { consecutiveFailures: 2, resetTimeoutMs: outageMs };
  const expected: Expected = {
    outcome: 'circuit_open',
    synthetic: true,
    retries: [1, 1],
    cause: 'HTTP 503',
    waitsMs: [100],
    leastMs: 100,
    records: ['opened', 'half_opened', 'closed'].map((event) => ({
      type: `breaker/${event}`,
      fields: { integration: name },
    })),
  };
  const integrations = new WeakMap<Gateway, Integration<ToolRequest, string>>();
  return {
    ...httpFault(name, expected),
    declare({ gateway, http }) {
      const about = { effect: 'readOnly', policy: { breaker } } as const;
      const outage = gateway.integration(name, about, (_: ToolRequest, { signal }) =>
        get(`${http.url}/${name}`, signal),
      );
      integrations.set(gateway, outage);
    },
    run(turn, { gateway }) {
      // A tour that was cut off may have left it open in the database.
      integrations.get(gateway)?.breaker.reset();
      return turn.tool(name, 'get');
    },
    async settle({ gateway, http, signal }) {
      const requests = http.requests(`/${name}`);
      await pause(outageMs, signal);
      const outcome = await integrations.get(gateway)?.call({ tool: 'get', input: {} });
      if (requests !== 2) return `${requests} requests reached the upstream while it was down`;
      return outcome?.ok === true ? undefined : 'the circuit did not close';
    },
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
    records: [{ type: 'integration/paused', fields: { pause_ms: 1000 } }],
  }),
  httpFault('http-503', {
    outcome: 'transient',
    retries: [2, 2],
    cause: 'HTTP 503',
    waitsMs: [100, 500],
    leastMs: 600,
    records: [
      { type: 'integration/failure', fields: { kind: 'transient', status: 503, retry_count: 2 } },
      { type: 'session/tool_failed', fields: { kind: 'transient', retries: 2 } },
    ],
  }),
  httpFault('http-401', {
    outcome: 'auth',
    retries: [0, 0],
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
      records: [
        { type: 'integration/failure', fields: { kind: 'timeout', reason: 'attempt_timeout', retry_count: 2 } },
        { type: 'session/tool_failed', fields: { kind: 'timeout', synthetic: true } },
      ],
    },
    { limits: { attemptMs: answerMs } },
  ),
  httpOutage(),
];
