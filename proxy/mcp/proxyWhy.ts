import { type CallPath, circuitOf } from '../../src/calls/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import type { Failure } from '../../src/policy/failures/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import type { EndedCallWhy, LayerWhy, RuleWhy, SessionWhy, ToolCallWhy } from '../../src/sessions/face.ts';
import type { ClientCall } from './clientCall.ts';

/** A request of a client that unwedge answered, as its server did not. Its contents are not kept. */
export interface RefusedCall {
  /** Number of its row; of one that was refused before it had one, its id for the client. */
  readonly number: number | string;
  /** Tool that it calls, or its method. */
  readonly tool: string;
  /** On the clock of the proxy, in ms, as `at` is. */
  readonly startedAt: number;
  readonly failure: Failure;
  readonly at: number;
}

/** The requests of a client that have no answer, and the server behind them. */
export interface PendingCalls {
  readonly name: string;
  /** As calls that are kept know it. */
  readonly session: string | undefined;
  readonly calls: readonly ClientCall[];
  readonly clock: Clock;
  readonly path: Pick<CallPath<ClientCall, McpAnswer>, 'link' | 'why' | 'keptWhy'>;
  readonly pid: number | undefined;
  /** The last of those that have one. @defaultValue none yet */
  readonly refused?: RefusedCall | undefined;
}

/** Tells what the client of a proxy waits for, in the form of a session: its connection is one. */
export function proxyWhy({ pending }: { readonly pending: PendingCalls }): SessionWhy {
  const { name, session, calls, clock, path, pid, refused } = pending;
  const { link } = path;
  const now = clock.now();
  const circuit = circuitOf(link);
  const probe = circuit === 'open' ? { probeInMs: Math.max(0, link.openUntil - now) } : {};
  const target = { state: link.state, circuit, ...probe, process: { pid } };
  const waiting = calls.flatMap(({ row, tool, request }): readonly ToolCallWhy[] => {
    const progress = row && path.why(row);
    if (row === undefined || progress === undefined) return [];
    const about = { call: `${name}-${row.number}`, integration: name, tool: tool ?? request.method };
    return [{ ...about, sinceMs: now - row.startedAt, progress, target }];
  });
  const next = waiting
    .flatMap(({ call, tool, progress }): readonly RuleWhy[] =>
      progress === undefined ? [] : [{ ...progress.next, id: `${call}:${progress.next.id}`, what: tool, call }],
    )
    .toSorted((one, other) => one.inMs - other.inMs)[0];
  // Nobody fires a rule of a proxy: it names none.
  const about = { session: name, state: 'connected to its client', waiting: 0, heldElsewhere: false };
  const ended = refused === undefined ? [] : [endedCall(name, refused, now)];
  const kept = session === undefined ? [] : path.keptWhy(session);
  return { ...about, calls: waiting, ended, questions: [], rules: [], next, kept };
}

/** Lists the calls that are pending, for who waits for the client of a proxy. */
export function proxyLayers(proxy: { readonly pending: PendingCalls } | undefined): readonly LayerWhy[] {
  const calls = proxy === undefined ? [] : proxyWhy(proxy).calls;
  return calls.map(({ integration, tool, sinceMs, progress }) => {
    // The other rules have it go on.
    const limit = [progress?.next, ...(progress?.also ?? [])].find((each) => each?.rule.endsWith('_timeout'));
    return { kind: 'call', by: `unwedge mcp ${integration}`, what: tool, sinceMs, limitInMs: limit?.inMs };
  });
}

function endedCall(name: string, { number, tool, failure, startedAt, at }: RefusedCall, now: number): EndedCallWhy {
  const { kind, message, attempts } = failure;
  const about = { call: `${name}-${number}`, integration: name, tool, sinceMs: now - startedAt, endedAgoMs: now - at };
  return { ...about, ok: false, synthetic: true, failure: { kind, message }, attempts, trail: [] };
}
