import { messageOf } from '../policy/errorChain.ts';
import { type FactFamily, familyOf } from '../policy/factFamilies.ts';
import { factTypes } from '../policy/factTypes.ts';
import type { Failure } from '../policy/failure.ts';
import type { Fact, FactMap, FactType, Told } from '../policy/facts.ts';
import { lastMet } from '../policy/lastMet.ts';

/** An event as it is stored, before it is bounded. */
export interface StoredEvent {
  readonly category: string;
  readonly eventType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Gives what the last attempt met of a call that ended by the circuit it opened: it counts as that. */
function metIn(failure: Failure): Record<string, unknown> {
  const met = lastMet(failure);
  return met === failure ? {} : { met_kind: met.kind, met_error: met.message };
}

/** Makes an object of its own for the metadata. */
type Shape<T extends FactType> = (fact: Readonly<FactMap[T]>) => Record<string, unknown>;
type Row<T extends FactType> = readonly [category: string, eventType: string, metadata: Shape<T>];

/**
 * Forms in which facts are stored. `null`: for subscribers only. Retries and successes of calls are not stored (the store gets a call's final failure, R-10),
 * nor is what comes with every call or every line of a child.
 */
const rows: { readonly [T in FactType | FactFamily]: Row<T> | null } = {
  'call.first_chunk': null,
  'call.retried': null,
  'call.pending': ['integration', 'pending', asTold],
  'call.reconciling': ['integration', 'reconciling', asTold],
  'call.reconciled': ['integration', 'reconciled', asTold],
  'call.succeeded': null,
  'call.failed': [
    'integration',
    'failure',
    ({ integration, integrationType, provider, model, tool, failure, stack, limit, retryCount, ...fact }) => ({
      ...metIn(failure),
      integration,
      type: integrationType,
      provider,
      model,
      tool,
      error: failure.message,
      // Nothing is thrown where a limit passes: where it was set says as much.
      stack: stack ?? limit ?? null,
      retry_count: retryCount,
      fallback_error: messageOf([failure.fallbackError]) || undefined,
      kind: failure.kind,
      // Only where it is `false`.
      alerts: lastMet(failure).alerts,
      reason: failure.reason,
      outcome: failure.outcome,
      effect: failure.effect,
      retryable: failure.retryable,
      retry_after_ms: failure.retryAfterMs,
      status: failure.status,
      code: failure.code,
      call: fact.call,
      label: fact.label,
      session: fact.session,
      elapsed_ms: fact.elapsedMs,
    }),
  ],
  'call.refused': [
    'integration',
    'refused',
    ({ message, ...fact }) => ({ integration: fact.integration, error: message, ...asTold(fact) }),
  ],
  'call.late': ['integration', 'late_result', asTold],
  'call.abandoned': ['integration', 'abandoned', asTold],
  'call.fell_back': ['integration', 'fell_back', asTold],
  'agent.fell_back': ['agent', 'fell_back', asTold],
  'workflow.*.started': ['workflow', 'started', asTold],
  'workflow.*.planned': null,
  'workflow.*.completed': ['workflow', 'completed', asTold],
  'workflow.*.failed': ['workflow', 'failed', asTold],
  'workflow.*.item_error': ['workflow', 'item_error', asTold],
  // Stored once an episode, as the refusal of a call.
  'workflow.*.circuit_breaker_open': null,
  workflow_fallback: ['workflow', 'fallback', asTold],
  'integration.changed': null,
  'integration.paused': ['integration', 'paused', asTold],
  'integration.rate_limited': ['integration', 'rate_limited', asTold],
  'integration.crashed': ['integration', 'crashed', asTold],
  'integration.restart_failed': ['integration', 'restart_failed', asTold],
  'integration.restarted': ['integration', 'restarted', asTold],
  'operator.restarted': ['operator', 'restarted', asTold],
  'operator.isolated': ['operator', 'isolated', asTold],
  'operator.reset': ['operator', 'reset', asTold],
  'operator.probed': ['operator', 'probed', asTold],
  'operator.fired': ['operator', 'fired', asTold],
  'operator.retries_stopped': ['operator', 'retries_stopped', asTold],
  'operator.cancelled': ['operator', 'cancelled', asTold],
  'operator.sent_again': ['operator', 'sent_again', asTold],
  'operator.dropped': ['operator', 'dropped', asTold],
  'operator.acknowledged': ['operator', 'acknowledged', asTold],
  'operator.snoozed': ['operator', 'snoozed', asTold],
  'breaker.opened': ['breaker', 'opened', ({ cause, ...fact }) => ({ ...asTold(fact), error: cause })],
  'breaker.half_opened': ['breaker', 'half_opened', asTold],
  'breaker.closed': ['breaker', 'closed', asTold],
  'breaker.adopted': ['breaker', 'adopted', ({ cause, ...fact }) => ({ ...asTold(fact), error: cause })],
  'session.started': ['session', 'started', asTold],
  'session.refused': ['session', 'refused', asTold],
  'session.resumed': ['session', 'resumed', asTold],
  'session.dead_letter': ['session', 'dead_letter', asTold],
  'session.held': ['session', 'held', asTold],
  'session.unclaimed': ['session', 'unclaimed', asTold],
  'session.taken_over': ['session', 'taken_over', asTold],
  'session.given_back': ['session', 'given_back', asTold],
  'session.heartbeat_dropped': null,
  'session.turn_started': ['session', 'turn_started', asTold],
  'session.turn_ended': ['session', 'turn_ended', asTold],
  'session.turn_failed': ['session', 'turn_failed', asTold],
  'session.tool_failed': ['session', 'tool_failed', ({ message, ...fact }) => ({ ...asTold(fact), error: message })],
  'session.watchdog_fired': ['session', 'watchdog_fired', asTold],
  'session.recovered': ['session', 'recovered', asTold],
  'session.recovery_failed': ['session', 'recovery_failed', asTold],
  'session.question_failed': [
    'session',
    'question_failed',
    ({ message, ...fact }) => ({ ...asTold(fact), error: message }),
  ],
  'session.escalated': ['session', 'escalated', asTold],
  'session.late_result': ['session', 'late_result', asTold],
  'process.started': ['process', 'started', asTold],
  'process.exited': ['process', 'exited', asTold],
  'process.reaped': ['process', 'reaped', asTold],
  'process.stray_output': null,
  'hook.failed': [
    'hook',
    'error',
    ({ hook, event, action, session, kind, error, stack }) => ({
      hook_name: hook,
      event_type: event,
      event_action: action,
      session_key: session ?? null,
      kind,
      error,
      stack: stack ?? null,
    }),
  ],
  'approval.requested': ['approval', 'requested', asTold],
  'approval.completed': ['approval', 'completed', asTold],
  'approval.failed': ['approval', 'failed', asTold],
  'approval.late': ['approval', 'late_answer', asTold],
  'codex.app_server.connection.start': ['codex', 'connection_start', asTold],
  'codex.app_server.connection.stop': ['codex', 'connection_stop', asTold],
  'codex.app_server.connection.error': ['codex', 'connection_error', asTold],
  'codex.app_server.request.start': null,
  'codex.app_server.request.stop': null,
  'codex.app_server.request.timeout': ['codex', 'request_timeout', asTold],
  'codex.app_server.notification.received': null,
  'codex.app_server.notification.unknown': null,
  // Stored as approvals, with what was asked and why it failed.
  'codex.app_server.turn.commands_ended': ['codex', 'commands_ended', asTold],
  'codex.app_server.approval.requested': null,
  'codex.app_server.approval.completed': null,
  'codex.app_server.approval.timeout': ['codex', 'approval_timeout', asTold],
  'host.uncaught': ['host', 'uncaught', asTold],
  'mcp.tool_failed': [
    'mcp',
    'tool_error',
    ({ tool, input, error, integration, stack, kind, reason, retries }) => ({
      tool_name: tool,
      input,
      error,
      integration,
      stack,
      kind,
      reason,
      retry_count: retries,
    }),
  ],
  'mcp.tools_changed': ['mcp', 'tools_changed', asTold],
  'mcp.left_out': ['mcp', 'left_out', asTold],
  'mcp.stray_output': ['mcp', 'stray_output', asTold],
  'mcp.http_refused': ['mcp', 'http_refused', asTold],
  'mcp.server_replayed': ['mcp', 'server_replayed', asTold],
  'mcp.calls_lost': ['mcp', 'calls_lost', ({ message, ...fact }) => ({ ...asTold(fact), error: message })],
  'mcp.lists_changed': ['mcp', 'lists_changed', asTold],
  'child.started': ['child', 'started', asTold],
  'child.crashed': ['child', 'crashed', asTold],
  'child.restarting': ['child', 'restarting', asTold],
  'child.quarantined': ['child', 'quarantined', asTold],
  'child.stopped': ['child', 'stopped', asTold],
  'supervisor.gave_up': ['supervisor', 'gave_up', asTold],
  'message.dead_letter': ['message', 'dead_letter', asTold],
  'runtime.stalled': ['runtime', 'stalled', asTold],
  'gateway.left': ['gateway', 'left', asTold],
  'gateway.died': ['gateway', 'died', asTold],
  'store.degraded': ['store', 'degraded', asTold],
  'store.recovered': ['store', 'recovered', asTold],
  'store.log_lost': ['store', 'log_lost', asTold],
  'store.pruned': ['store', 'pruned', asTold],
  // Its place on record says which process recorded it, and in which database.
  'alert.raised': [
    'alert',
    'raised',
    ({ message, next: _next, pid: _pid, database: _database, ...fact }) => ({ ...asTold(fact), error: message }),
  ],
  'alert.cleared': ['alert', 'cleared', ({ pid: _pid, database: _database, ...fact }) => asTold(fact)],
  'alert.undelivered': ['alert', 'undelivered', asTold],
  'alert.delivered_late': ['alert', 'delivered_late', asTold],
  'config.unused': ['config', 'unused', asTold],
  'control.unavailable': ['control', 'unavailable', asTold],
  'listener.failed': ['listener', 'failed', asTold],
  'listener.removed': ['listener', 'removed', asTold],
};

/** The categories under which this version stores events. */
export const categories: readonly string[] = [...new Set(Object.values(rows).flatMap((row) => row?.[0] ?? []))];

/** The types that are stored: subscribe to these rather than to all, so that nobody builds facts for the store to ignore. */
export const storedTypes: readonly FactType[] = factTypes.filter((type) => rows[type] !== null);

/** Gives what the store keeps of a fact; undefined when nothing. Never throws: a fact that cannot be read is stored as that. */
export function storedEvent(fact: Told<Fact>): StoredEvent | undefined {
  try {
    return shape(fact.type, fact);
  } catch (error) {
    return { category: 'store', eventType: 'unreadable_fact', metadata: { fact: fact.type, error } };
  }
}

function shape<T extends FactType>(type: T, fact: Readonly<FactMap[T]>): StoredEvent | undefined {
  // The last failure of an item alone is on record.
  if (isRoutine(fact) || ('final' in fact && fact.final === false)) return undefined;
  const own: Row<T> | null | undefined = rows[type];
  // A backend's own type is stored as every other backend's.
  const family = own === undefined ? familyOf(type) : undefined;
  const row = family === undefined ? own : (rows[family] as Row<T> | null);
  if (row === null || row === undefined) return undefined;
  const [category, eventType, metadata] = row;
  return { category, eventType, metadata: metadata(fact) };
}

/** A session lives by its heartbeats; stored, those that went well would bury everything else. */
function isRoutine(fact: object): boolean {
  return 'turn' in fact && 'kind' in fact && fact.kind === 'heartbeat' && !('ok' in fact && fact.ok === false);
}

/** Names come back with every fact; there are as many as the catalogue has. */
const snakeNames = new Map<string, string>();

/** A copy without what the store adds itself. */
function asTold(fact: object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fact)) {
    if (key === 'type' || key === 'at') continue;
    let name = snakeNames.get(key);
    if (name === undefined) {
      name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      snakeNames.set(key, name);
    }
    result[name] = value;
  }
  return result;
}
