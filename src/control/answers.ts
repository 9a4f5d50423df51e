import type { Stopping } from '../calls/draining.ts';
import type { Comeback } from '../calls/outage.ts';
import type { StoreOutage } from '../policy/records/storeOutage.ts';
import type { BreakerHandle } from '../calls/integration.ts';
import type { CallPath } from '../calls/callPath.ts';
import type { OpenToolCircuit } from '../calls/circuit/toolCircuits.ts';
import type { RateWait } from '../calls/rates/rateBucket.ts';
import { done, type BudgetAnswer } from '../policy/operatorOrder.ts';
import type { LayerWhy, SessionWhy } from '../sessions/why.ts';
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
  /** Calls past their limit whose answers are kept for an equal call, and until when at most, as wall time in ms since the epoch. @defaultValue none */
  readonly kept?: CallPath<unknown, unknown>['keptAnswers'];
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
  return isSelf(value) ? (value as LiveSelf) : undefined;
}

/** An answer to `status`; undefined when it is none. A runtime may be of another version than the client. */
export function readStatusAnswer(value: unknown): LiveStatus | undefined {
  if (!isStatus(value)) return undefined;
  const { integrations, sessions, groups, stopping, store } = value as LiveStatus;
  const { inMs, sinceMs } = fieldsOf(stopping);
  return {
    ...{ integrations, sessions },
    ...((groups?.length ?? 0) > 0 && { groups }),
    ...(isOutage(store) && { store }),
    ...(typeof inMs === 'number' && { stopping: { inMs, ...(typeof sinceMs === 'number' && { sinceMs }) } }),
  };
}

/** An answer to `tree`; undefined when it is none. */
export function readTreeAnswer(value: unknown): TreeNode | undefined {
  return isNode(value) ? (value as TreeNode) : undefined;
}

/** An answer to `why`; undefined when it is none. */
export function readWhyAnswer(value: unknown): SessionWhy | undefined {
  if (!isWhy(value)) return undefined;
  // A runtime of before this version names no rules.
  const { rules } = fieldsOf(value);
  return { ...(value as SessionWhy), rules: Array.isArray(rules) ? (rules as SessionWhy['rules']) : [] };
}

/** An answer to `layers`: work under way that may be part of what other programs wait for; undefined when it is none. */
export function readLayersAnswer(value: unknown): readonly LayerWhy[] | undefined {
  return areLayers(value) ? (value as readonly LayerWhy[]) : undefined;
}

/** An answer to an order: what became of it. The answer of one that says nothing is that it was done. */
export function readOrderAnswer(value: unknown): BudgetAnswer {
  const { ok, text, limits } = fieldsOf(value);
  if (typeof ok !== 'boolean' || typeof text !== 'string') return done;
  return Array.isArray(limits) ? { ok, text, limits: limits as BudgetAnswer['limits'] } : { ok, text };
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
  return areWatched(value) ? (value as readonly WatchedAlert[]) : undefined;
}

/** Reads the answer of `flight`: how many integrations had something to write. */
export function readFlightAnswer(value: unknown): { readonly kept: number } | undefined {
  const { kept } = fieldsOf(value);
  return typeof kept === 'number' ? { kept } : undefined;
}

/** Tells whether a value is of a form. */
type Is = (value: unknown) => boolean;

const text: Is = (value) => typeof value === 'string';
const number: Is = (value) => typeof value === 'number';
/** A number that is none is null in JSON. */
const maybe =
  (is: Is): Is =>
  (value) =>
    value === undefined || value === null || is(value);
const missingOr =
  (is: Is): Is =>
  (value) =>
    value === undefined || is(value);
const all =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);

/** An object whose fields are of such forms; what else it has is of a later version, and kept. */
function shape(fields: Readonly<Record<string, Is>>): Is {
  return (value) => {
    const given = fieldsOf(value);
    return Object.entries(fields).every(([name, is]) => is(given[name]));
  };
}

const isSelf = shape({ id: text, pid: number, name: text, startedAt: number, database: maybe(text) });
const isIntegration = shape({
  integration: text,
  state: text,
  circuit: text,
  inFlight: number,
  waiting: number,
  pendingLong: maybe(number),
  abandoned: maybe(number),
  kept: missingOr(shape({ pending: number, finished: number, until: number })),
  probeInMs: maybe(number),
  pausedForMs: maybe(number),
  tools: missingOr(all(shape({ tool: text, circuit: text, probeInMs: maybe(number) }))),
  rate: missingOr(shape({ of: text, limit: number, perMs: number, waitMs: number })),
});
const isStatus = shape({
  integrations: all(isIntegration),
  sessions: all(shape({ session: text, state: text, waiting: number })),
  groups: missingOr(all(shape({ group: text, integrations: all(text) }))),
});
const isOutage = shape({ reason: text, fix: text, forMs: number, waiting: number, dropped: number });
const isWhy = shape({ session: text, state: text, waiting: number, calls: Array.isArray, questions: Array.isArray });
const areLayers = all(
  shape({ kind: text, by: text, what: text, sinceMs: number, conversations: missingOr(all(text)) }),
);
const areWatched = all(shape({ integration: text, quietMs: number, once: missingOr(text) }));
const isNode = shape({
  id: text,
  type: text,
  state: text,
  restart: text,
  incarnation: number,
  restarts: number,
  lastError: maybe(text),
  machineState: maybe(text),
  nextRestartInMs: maybe(number),
  queued: maybe(number),
  deadLetters: maybe(number),
  details: maybe((value) => typeof value === 'object'),
  children: missingOr(all((child) => isNode(child))),
});

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
