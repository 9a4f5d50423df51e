import type { Failure, Outcome } from '../../src/policy/failures/failure.ts';
import { type CallRow, isWaiting, wordOf } from './callRow.ts';
import type { SimulatedIntegration } from './simulatedIntegration.ts';
import type { World } from './world.ts';

/** What must hold of an integration whenever the event loop has come to rest. */
export function checkIntegration(world: World, integration: SimulatedIntegration): void {
  if (!world.stopped) checkState(world, integration);
  for (const row of integration.rows.values()) {
    if (row.outcome === undefined) checkOpen(world, integration, row);
    else checkSettled(world, integration, row, row.outcome);
  }
  for (const { row, failure } of integration.failed.splice(0)) checkFailure(world, integration, row, failure);
  checkPlaces(world, integration);
  integration.model.forgetSeen();
}

function checkOpen({ judge }: World, integration: SimulatedIntegration, row: CallRow): void {
  const { label, dueAt, work, limits } = row;
  judge.expect(!judge.overdue(dueAt), 'I-1', () => `${label} was due at ${dueAt} and has not settled`);
  if (work !== undefined) {
    const idleDueAt = work.lastSignAt + limits.idleMs + judge.stalledSince(work.lastSignAt);
    const attemptDueAt = work.startedAt + limits.attemptMs + judge.stalledSince(work.startedAt);
    const limit = Math.min(idleDueAt, attemptDueAt, dueAt);
    judge.expect(
      !judge.overdue(limit),
      'R-9',
      () => `an attempt of ${label} is in flight beyond its limit at ${limit}`,
    );
  } else if (isWaiting(row)) {
    const { model, attempts } = integration;
    const mayWait =
      model.state !== 'closed' || attempts.full || !judge.overdue(Math.max(row.retryAt, model.latestPause), 2);
    judge.expect(mayWait, 'M-9', () => `${label} waits while nothing keeps it from being tried`);
    judge.expect(model.state !== 'open', 'M-5', () => `${label} waits while the circuit is open`);
    judge.expect(
      model.state !== 'half-open' || attempts.probing,
      'M-3',
      () => `${label} waits for a probe that is not in flight`,
    );
  }
}

/** A call that ended leaves the books. */
function checkSettled({ judge }: World, { rows }: SimulatedIntegration, row: CallRow, outcome: Outcome<unknown>): void {
  const { label, attempts, records } = row;
  const failure = row.fallback?.failure ?? (outcome.ok ? undefined : outcome.failure);
  const refusal = !outcome.ok && attempts === 0 && failure !== undefined ? recordsOfRefusal(failure) : undefined;
  const told = refusal === undefined ? records === 1 : refusal.includes(records);
  judge.expect(told, 'I-4', () => `${label} ends ${wordOf(outcome)} and has ${records} final records`);
  rows.delete(label);
}

/** What a call came to has to be what happened. */
function checkFailure(
  { judge, refusing }: World,
  { model, name }: SimulatedIntegration,
  row: CallRow,
  failure: Failure,
): void {
  const { label, last } = row;
  const { kind, attempts, integration } = failure;
  const word = wordOf({ ok: false, failure });
  // A listener that hears of an attempt may end it before the operation is called.
  const unheard = kind === 'cancelled' && attempts === row.attempts + 1;
  judge.expect(
    attempts === row.attempts || unheard,
    'R-7',
    () => `${label} ends ${word}, it made ${row.attempts} attempts`,
  );
  judge.expect(integration === name, 'R-7', () => `${label} ends as a failure of ${integration}`);
  const truths: Partial<Record<typeof kind, boolean>> = {
    circuit_open: model.seen.has('open') || model.seen.has('half-open'),
    unavailable: model.seen.has('crashed'),
    cancelled: row.signal?.aborted === true || refusing || row.ofSession || last?.kind === 'cancelled',
    watchdog: row.ofSession,
    too_many_requests: true,
    timeout: true,
    rate_limit: last?.kind === 'rate_limit' || model.latestPause > row.startedAt,
  };
  judge.expect(truths[kind] ?? last?.kind === kind, 'R-5', () => `${label} ends ${word}, which is not what happened`);
}

function checkPlaces({ judge, stopped }: World, { attempts, policy, name }: SimulatedIntegration): void {
  for (const { abortedAt, writtenOff } of attempts.works.keys()) {
    if (abortedAt === undefined || writtenOff) continue;
    const dueAt = abortedAt + policy.abortGraceMs + judge.stalledSince(abortedAt);
    judge.expect(stopped || !judge.overdue(dueAt), 'M-9', () => `work of ${name} goes on and is not written off`);
  }
}

function checkState({ judge, root }: World, simulated: SimulatedIntegration): void {
  const { model, name, integration, rows } = simulated;
  let expected: string = model.state;
  if (model.state === 'closed') {
    const waiting = [...rows.values()].some(isWaiting);
    expected = simulated.attempts.inFlight > 0 ? 'calling' : waiting ? 'backoff' : 'idle';
  }
  if (model.state === 'crashed' && !integration.started) {
    judge.expect(integration.state === 'idle', 'M-14', () => `${name} has not started and is ${integration.state}`);
    return;
  }
  // The machine itself, before anything that asks for the state makes it follow the calls.
  const actual = machineState(root.ref(`integration:${name}`)?.getSnapshot());
  judge.expect(actual === expected, 'M-1', () => `${name} is ${actual}, by its calls it is ${expected}`);
  judge.expect(integration.state === expected, 'M-1', () => `${name} says ${integration.state}, it is ${expected}`);
}

function machineState(snapshot: unknown): string {
  return (snapshot as { readonly value: string } | undefined)?.value ?? 'crashed';
}

/** Refusals are told once an episode; who had been let wait before a stop has a record of its own. */
function recordsOfRefusal({ kind, reason }: Failure): readonly number[] | undefined {
  if (kind === 'circuit_open' || kind === 'too_many_requests' || kind === 'unavailable') return [0];
  return reason === 'stopped' ? [0, 1] : undefined;
}
