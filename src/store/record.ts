import { messageOf } from '../policy/failures/errorChain.ts';
import { type FactFamily, familyOf } from '../policy/facts/factFamilies.ts';
import { factTypes } from '../policy/facts/factTypes.ts';
import type { Failure, FailureFacts } from '../policy/failures/failure.ts';
import type { Fact, FactMap, FactType, Told } from '../policy/facts/facts.ts';
import { lastMet } from '../policy/records/lastMet.ts';
import type { EventRow } from './events.ts';

/** An event as it is stored, before it is bounded. */
export interface StoredEvent {
  readonly category: string;
  readonly eventType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Gives what the last attempt met of a call that ended by the circuit it opened: it counts as that. */
function metOf(failure: Failure): FailureFacts | undefined {
  const met = lastMet(failure);
  return met === failure ? undefined : met;
}

/** Makes an object of its own for the metadata. */
type Shape<T extends FactType> = (fact: Readonly<FactMap[T]>) => Record<string, unknown>;
type Row<T extends FactType> = readonly [category: string, eventType: string, metadata: Shape<T>];

/**
 * Facts that are stored otherwise than as their types say, `session.started` as `session/started`: what is told of calls is of an integration, and
 * a backend's own type counts as every other backend's. `null`: for subscribers only. Retries and successes of calls are not stored (the store gets a
 * call's final failure, R-10), nor is what comes with every call or every line of a child.
 */
const others: { readonly [T in FactType | FactFamily]?: Row<T> | null } = {
  'call.first_chunk': null,
  'call.retried': null,
  'call.succeeded': null,
  'call.failed': [
    'integration',
    'failure',
    // Nothing is spread, nor is a rest taken: each would cost as much as all of it.
    (fact) => ({
      met_kind: metOf(fact.failure)?.kind,
      met_error: metOf(fact.failure)?.message,
      integration: fact.integration,
      type: fact.integrationType,
      provider: fact.provider,
      model: fact.model,
      tool: fact.tool,
      error: fact.failure.message,
      // Nothing is thrown where a limit passes: where it was set says as much.
      stack: fact.stack ?? fact.limit ?? null,
      retry_count: fact.retryCount,
      fallback_error: messageOf([fact.failure.fallbackError]) || undefined,
      kind: fact.failure.kind,
      // Only where it is `false`.
      alerts: lastMet(fact.failure).alerts,
      reason: fact.failure.reason,
      outcome: fact.failure.outcome,
      effect: fact.failure.effect,
      retryable: fact.failure.retryable,
      retry_after_ms: fact.failure.retryAfterMs,
      status: fact.failure.status,
      code: fact.failure.code,
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
  'workflow.*.planned': null,
  // Stored once an episode, as the refusal of a call.
  'workflow.*.circuit_breaker_open': null,
  workflow_fallback: ['workflow', 'fallback', asTold],
  'integration.changed': null,
  'breaker.opened': ['breaker', 'opened', ({ cause, ...fact }) => ({ ...asTold(fact), error: cause })],
  'breaker.adopted': ['breaker', 'adopted', ({ cause, ...fact }) => ({ ...asTold(fact), error: cause })],
  'session.heartbeat_dropped': null,
  'session.tool_failed': ['session', 'tool_failed', asError],
  'session.question_failed': ['session', 'question_failed', asError],
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
  'approval.late': ['approval', 'late_answer', asTold],
  'codex.app_server.request.start': null,
  'codex.app_server.request.stop': null,
  'codex.app_server.notification.received': null,
  'codex.app_server.notification.unknown': null,
  // Stored as approvals, with what was asked and why it failed.
  'codex.app_server.turn.commands_ended': ['codex', 'commands_ended', asTold],
  'codex.app_server.approval.requested': null,
  'codex.app_server.approval.completed': null,
  'mcp.tool_failed': [
    'mcp',
    'tool_error',
    ({ tool, input, error, integration, stack, kind, reason, retries, call, session }) => ({
      tool_name: tool,
      input,
      error,
      integration,
      stack,
      kind,
      reason,
      retry_count: retries,
      call,
      session,
    }),
  ],
  'mcp.calls_lost': ['mcp', 'calls_lost', asError],
  // Its place on record says which process recorded it, and in which database.
  'alert.raised': [
    'alert',
    'raised',
    ({ message, next: _next, pid: _pid, database: _database, ...fact }) => ({ ...asTold(fact), error: message }),
  ],
  'alert.cleared': ['alert', 'cleared', ({ pid: _pid, database: _database, ...fact }) => asTold(fact)],
};

const rows: ReadonlyMap<string, Row<FactType> | null> = new Map(factTypes.map((type) => [type, rowOf(type)]));

function rowOf(type: FactType): Row<FactType> | null {
  const other = others[type] as Row<FactType> | null | undefined;
  if (other !== undefined) return other;
  const [category = '', ...name] = type.split('.').filter((word) => word !== '*' && word !== 'app_server');
  return [category === 'call' ? 'integration' : category, name.join('_'), asTold];
}

/** The categories under which this version stores events. */
export const categories: readonly string[] = [...new Set([...rows.values()].flatMap((row) => row?.[0] ?? []))];

/** The types that are stored: subscribe to these rather than to all, so that nobody builds facts for the store to ignore. */
export const storedTypes: readonly FactType[] = factTypes.filter((type) => rows.get(type) !== null);

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
  // A backend's own type is stored as every other backend's.
  const row = (rows.get(type) ?? rows.get(familyOf(type) ?? type)) as Row<T> | null | undefined;
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
  for (const key of Object.keys(fact)) {
    if (key === 'type' || key === 'at') continue;
    let name = snakeNames.get(key);
    if (name === undefined) {
      name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      snakeNames.set(key, name);
    }
    result[name] = (fact as Record<string, unknown>)[key];
  }
  return result;
}

/** The message is stored as that of an error. */
function asError({ message, ...fact }: { readonly message: string }): Record<string, unknown> {
  return { ...asTold(fact), error: message };
}

/** Types, by what they are stored as. */
const toldAs = new Map(
  [...rows].flatMap(([type, row]) => (row === null ? [] : [[`${row[0]}/${row[1]}`, { type, shape: row[2] }] as const])),
);

/** Gives a fact as it was told; undefined for one of which not all is stored, or in another form. */
export function factOf({ at, category, type, metadata }: EventRow): { type: string; at: number } | undefined {
  const told = toldAs.get(`${category}/${type}`);
  const isError = told?.shape === asError;
  if (told === undefined || told.type.includes('*') || (!isError && told.shape !== asTold)) return undefined;
  const { runtime_pid: _, ...given } = metadata;
  const fields = Object.entries(given).map(([key, value]) => {
    const name = key.replaceAll(/_([a-z])/g, (_found, letter: string) => letter.toUpperCase());
    return [isError && key === 'error' ? 'message' : name, value] as const;
  });
  return { type: told.type, at, ...Object.fromEntries(fields) };
}
