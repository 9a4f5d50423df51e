import { failureKinds, ruleReasons } from '../../src/policy/failures/face.ts';
import { field } from '../../src/store/sqlite/face.ts';

/** SQL for whose record it is: hooks have circuits under this name. */
export const owner = `CASE category WHEN 'hook' THEN 'hook:' || ${field('hook_name')} ELSE ${field('integration')} END`;

const harmless = Object.entries(failureKinds)
  .filter(([, { alerts }]) => !alerts)
  .map(([kind]) => `'${kind}'`)
  .join(', ');

/** SQL for the kind of what went wrong: what a call met last, where that is not what it ended with. */
export const metKind = `coalesce(${field('met_kind')}, ${field('kind')})`;

/** SQL for its words. */
export const metWords = `coalesce(${field('met_error')}, ${field('error')}, ${field('message')})`;

/** A hook of a gateway has two records of the same: one of its call, and one of its own. */
const isFailure = `(category = 'hook' AND event_type = 'error' OR category = 'integration' AND event_type = 'failure'
  AND coalesce(${field('integration')}, '') NOT LIKE 'hook:%')`;

/**
 * SQL for what counts as a failure of an integration, for alerts and wherever failures are counted: final failures of calls and failures
 * of hooks, of the kinds that say something of it (table 1). One that is recorded without a kind, or with one of a newer version, counts;
 * one that is recorded as nobody's failure does not.
 */
export const isCountedFailure = `(${isFailure} AND coalesce(${metKind}, 'unknown') NOT IN (${harmless}) AND ${field('alerts')} IS NOT 0)`;

/** SQL for a crash of an integration: a lost process or connection, or a failed restart. */
export const isCrash = `(category = 'integration' AND event_type IN ('crashed', 'restart_failed'))`;

/** SQL for a call that a rule of the operator refused. */
export const isByRule = `coalesce(${field('reason')}, '') IN (${ruleReasons.map((each) => `'${each}'`).join(', ')})`;

/** Calls that were ended on request, or refused: that says what became of them, not what went wrong. */
const isNoTrouble = `(coalesce(${metKind}, '') IN ('cancelled', 'circuit_open', 'too_many_requests', 'unavailable') OR ${isByRule})`;

/** Calls that end because the circuit opened have no other record of what opened it. */
const isOpening = `(category = 'breaker' AND event_type = 'opened' AND ${field('error')} IS NOT NULL)`;

/** SQL for what went wrong with an integration, whether or not it counts. */
export const isTrouble = `(${isCrash} OR ${isOpening} OR ${isFailure} AND NOT ${isNoTrouble})`;
