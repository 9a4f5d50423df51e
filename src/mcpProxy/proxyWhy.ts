import type { CallPath } from '../calls/callPath.ts';
import { whyOf } from '../calls/callWhy.ts';
import { circuitOf } from '../calls/integration.ts';
import type { Clock } from '../policy/clock.ts';
import type { McpAnswer } from '../protocol/mcp/message.ts';
import type { RuleWhy, SessionWhy, ToolCallWhy } from '../sessions/why.ts';
import type { ClientCall } from './clientCall.ts';

/** The requests of a client that have no answer, and the server behind them. */
export interface PendingCalls {
  readonly name: string;
  readonly calls: readonly ClientCall[];
  readonly clock: Clock;
  readonly link: CallPath<ClientCall, McpAnswer>['link'];
  readonly pid: number | undefined;
}

/** What the client of a proxy waits for, in the form of a session: its connection is one. */
export function proxyWhy({ pending }: { readonly pending: PendingCalls }): SessionWhy {
  const { name, calls, clock, link, pid } = pending;
  const now = clock.now();
  const circuit = circuitOf(link);
  const probe = circuit === 'open' ? { probeInMs: Math.max(0, link.openUntil - now) } : {};
  const target = { state: link.state, circuit, ...probe, process: { pid } };
  const waiting = calls.flatMap(({ row, tool, request }): readonly ToolCallWhy[] => {
    const progress = row === undefined ? undefined : whyOf(row, clock);
    if (row === undefined || progress === undefined) return [];
    const about = { call: `${name}-${row.number}`, integration: name, tool: tool ?? request.method };
    return [{ ...about, sinceMs: now - row.startedAt, progress, target }];
  });
  const next = waiting
    .flatMap(({ call, tool, progress }): readonly RuleWhy[] =>
      progress === undefined ? [] : [{ ...progress.next, id: `${call}:${progress.next.id}`, what: tool, call }],
    )
    .toSorted((one, other) => one.inMs - other.inMs)[0];
  const state = 'connected to its client';
  // Nobody fires a rule of a proxy: it names none.
  return { session: name, state, waiting: 0, heldElsewhere: false, calls: waiting, questions: [], rules: [], next };
}
