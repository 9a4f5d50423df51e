import type { Stopping } from '../calls/draining.ts';
import type { Comeback } from '../calls/outage.ts';
import type { StoreOutage } from '../policy/storeOutage.ts';
import type { BreakerHandle } from '../calls/integration.ts';
import type { OpenToolCircuit } from '../calls/toolCircuits.ts';
import type { RateWait } from '../calls/rateBucket.ts';
import { done, type OrderResult } from '../policy/operatorOrder.ts';
import type { SessionWhy } from '../sessions/why.ts';
import type { TreeNode } from '../supervisor/tree.ts';

/** An integration as its runtime sees it now. */
export interface LiveIntegration {
  readonly integration: string;
  /** The state of its machine. */
  readonly state: string;
  readonly circuit: BreakerHandle['state'];
  /** Attempts in flight. */
  readonly inFlight: number;
  /** Accepted calls without one: in backoff, paused, or waiting for a place or a restart. */
  readonly waiting: number;
  /** Number of all of these calls past half of a limit that ends them. @defaultValue 0 */
  readonly pendingLong?: number | undefined;
  /** Attempts that were given up and whose work goes on all the same: it ignores its signal. They are not in flight. @defaultValue 0 */
  readonly abandoned?: number | undefined;
  /** Time in ms from now until the next call probes an open circuit; absent while it is held open. */
  readonly probeInMs?: number | undefined;
  /** For how long its server asked not to be called, in ms from now. @defaultValue it did not */
  readonly pausedForMs?: number | undefined;
  /** Comeback of one whose server is gone. */
  readonly comeback?: Comeback | undefined;
  /** The circuits of its tools that are not closed. @defaultValue none */
  readonly tools?: readonly OpenToolCircuit[] | undefined;
  /** The rate limit that its calls wait for. */
  readonly rate?: RateWait | undefined;
}

/** A session as its runtime sees it now. */
interface LiveSession {
  readonly session: string;
  /** The state of its machine. */
  readonly state: string;
  /** Messages in its mailbox. */
  readonly waiting: number;
  /** True where another process has it. @defaultValue false */
  readonly heldElsewhere?: boolean | undefined;
}

/** Integrations that are one command to people: one server for each client it has at the moment. */
export interface LiveGroup {
  readonly group: string;
  readonly integrations: readonly string[];
}

/** Answer of a runtime to `status`. */
export interface LiveStatus {
  readonly integrations: readonly LiveIntegration[];
  readonly sessions: readonly LiveSession[];
  /** @defaultValue none */
  readonly groups?: readonly LiveGroup[] | undefined;
  /** Trouble with its store. @defaultValue nothing */
  readonly store?: StoreOutage | undefined;
  /** @defaultValue it does not stop */
  readonly stopping?: Stopping | undefined;
}

/** Answer of a runtime to `self`: the content of its row in the store, which may be one that cannot be written. */
export interface LiveSelf {
  readonly id: string;
  readonly pid: number;
  readonly name: string;
  /** Wall time in ms since the epoch. */
  readonly startedAt: number;
  /** The path of its store; undefined while it has none. */
  readonly database: string | undefined;
}

/** An answer to `self`; undefined when it is none. */
export function readSelfAnswer(value: unknown): LiveSelf | undefined {
  const { id, pid, name, startedAt, database } = fieldsOf(value);
  return areTexts(id, name, database ?? '') && areNumbers(pid, startedAt) ? (value as LiveSelf) : undefined;
}

/** An answer to `status`; undefined when it is none. A runtime may be of another version than the client. */
export function readStatusAnswer(value: unknown): LiveStatus | undefined {
  const { integrations, sessions, groups = [], stopping, store } = fieldsOf(value);
  if (!Array.isArray(integrations) || !integrations.every(isIntegration)) return undefined;
  if (!Array.isArray(sessions) || !sessions.every(isSession)) return undefined;
  if (!Array.isArray(groups) || !groups.every(isGroup)) return undefined;
  const { inMs, sinceMs } = fieldsOf(stopping);
  return {
    ...{ integrations, sessions },
    ...(groups.length > 0 && { groups }),
    ...(isOutage(store) && { store }),
    ...(typeof inMs === 'number' && { stopping: { inMs, ...(typeof sinceMs === 'number' && { sinceMs }) } }),
  };
}

/** An answer to `tree`; undefined when it is none. */
export function readTreeAnswer(value: unknown): TreeNode | undefined {
  return isNode(value) ? value : undefined;
}

/** An answer to `why`; undefined when it is none. */
export function readWhyAnswer(value: unknown): SessionWhy | undefined {
  const { session, state, waiting, calls, questions } = fieldsOf(value);
  const isWhy = areTexts(session, state) && areNumbers(waiting) && Array.isArray(calls) && Array.isArray(questions);
  if (!isWhy) return undefined;
  // A runtime of before this version names no rules.
  const { rules } = fieldsOf(value);
  return { ...(value as SessionWhy), rules: Array.isArray(rules) ? (rules as SessionWhy['rules']) : [] };
}

/** An answer to an order: what became of it. The answer of one that says nothing is that it was done. */
export function readOrderAnswer(value: unknown): OrderResult {
  const { ok, text } = fieldsOf(value);
  return typeof ok === 'boolean' && typeof text === 'string' ? { ok, text } : done;
}

/** Answer of `alerts`, of each alert that is watched. */
export interface WatchedAlert {
  readonly integration: string;
  /** Time in ms that it lasts once nothing fails any more. */
  readonly quietMs: number;
  /** Event that ends it, where calls are refused: such as `its circuit has closed`. */
  readonly once?: string | undefined;
  /** Too few of its calls succeed, which has to end first. @defaultValue false */
  readonly isLow?: boolean | undefined;
  /** The store did not take it: it is in the memory of its gateway alone. @defaultValue false */
  readonly unrecorded?: boolean | undefined;
}

/** An answer to `alerts`; undefined when it is none. */
export function readAlertsAnswer(value: unknown): readonly WatchedAlert[] | undefined {
  const isWatched = (each: unknown): each is WatchedAlert => {
    const { integration, quietMs, once = '' } = fieldsOf(each);
    return areTexts(integration, once) && areNumbers(quietMs);
  };
  return Array.isArray(value) && value.every(isWatched) ? value : undefined;
}

/** Reads the answer of `flight`: how many integrations had something to write. */
export function readFlightAnswer(value: unknown): { readonly kept: number } | undefined {
  const { kept } = fieldsOf(value);
  return typeof kept === 'number' ? { kept } : undefined;
}

function isIntegration(value: unknown): value is LiveIntegration {
  const { integration, state, circuit, inFlight, waiting, pendingLong, probeInMs, pausedForMs, rate, comeback, tools } =
    fieldsOf(value);
  const { abandoned = 0 } = fieldsOf(value);
  const isKnown =
    areTexts(integration, state, circuit) &&
    areNumbers(
      inFlight,
      waiting,
      pendingLong ?? 0,
      abandoned,
      probeInMs ?? 0,
      pausedForMs ?? 0,
      Number(fieldsOf(comeback)['inMs'] ?? 0),
    );
  const hasTools = tools === undefined || (Array.isArray(tools) && tools.every(isToolCircuit));
  return isKnown && hasTools && (rate === undefined || isRateWait(rate));
}

function isToolCircuit(value: unknown): boolean {
  const { tool, circuit, probeInMs } = fieldsOf(value);
  return areTexts(tool, circuit) && areNumbers(probeInMs ?? 0);
}

function isOutage(value: unknown): value is StoreOutage {
  const { reason, fix, forMs, waiting, dropped } = fieldsOf(value);
  return areTexts(reason, fix) && areNumbers(forMs, waiting, dropped);
}

function isRateWait(value: unknown): boolean {
  const { of, limit, perMs, waitMs } = fieldsOf(value);
  return areTexts(of) && areNumbers(limit, perMs, waitMs);
}

function isSession(value: unknown): value is LiveSession {
  const { session, state, waiting } = fieldsOf(value);
  return areTexts(session, state) && areNumbers(waiting);
}

function isGroup(value: unknown): value is LiveGroup {
  const { group, integrations } = fieldsOf(value);
  return areTexts(group) && Array.isArray(integrations) && integrations.every((each) => areTexts(each));
}

function isNode(value: unknown): value is TreeNode {
  const { id, type, state, restart, lastError, machineState, ...node } = fieldsOf(value);
  const { incarnation, restarts, nextRestartInMs, queued, deadLetters, details, children } = node;
  return (
    areTexts(id, type, state, restart, lastError ?? '', machineState ?? '') &&
    areNumbers(incarnation, restarts, nextRestartInMs ?? 0, queued ?? 0, deadLetters ?? 0) &&
    typeof (details ?? {}) === 'object' &&
    (children === undefined || (Array.isArray(children) && children.every(isNode)))
  );
}

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');
const areNumbers = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'number');

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
