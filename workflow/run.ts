import { type AbortWatcher, type Deadline, refusal } from '../src/calls/face.ts';
import type { BackendEnd, WorkflowEmitted, WorkflowMachineEvent, WorkflowStatus } from './runMachine.ts';
import { type Failure, type FailureFacts, IntegrationError } from '../src/policy/failures/face.ts';
import type { Runtime } from '../src/runtime/face.ts';
import type { FactRedactor } from '../src/redaction/face.ts';
import { type BackendTurn, createBackendTurn } from './backendTurn.ts';
import { createEventLog } from './eventLog.ts';
import { createHandover } from './handover.ts';
import type { CheckedReconcile } from './itemRule.ts';
import type { ItemTable } from './itemTable.ts';
import type { RunParts } from './runParts.ts';
import { createRunRecords } from './runRecords.ts';
import type { SupervisedBackend } from './supervisedBackend.ts';
import type { WorkflowFallback, WorkflowOutcome, WorkflowRun, WorkflowRunOptions } from './workflowTypes.ts';

/** Options that one run needs of its workflow. */
interface RunOptions<I, R, S> extends WorkflowRunOptions {
  readonly id: string;
  readonly workflow: string;
  readonly backends: readonly SupervisedBackend<I, R, S>[];
  readonly concurrency: number;
  readonly overallMs: number;
  readonly reconcile: CheckedReconcile | undefined;
  /** Takes secrets out of its events, whose readers may be anybody. */
  readonly redact: FactRedactor;
  /** Told once, when it has ended. Must not throw. */
  readonly ended: () => void;
}

/** A run, for its workflow. */
export interface OwnedRun<R, S> {
  readonly handle: WorkflowRun<R, S>;
  /** Turn of the backend that took its turn last. @throws Error when none has. */
  readonly turn: BackendTurn<R, S>;
  /** Gives the backend of this place its turn. */
  takeTurn(place: number): BackendTurn<R, S>;
  /** Receives what its machine told. */
  heard(event: WorkflowEmitted): void;
  /** Its machine runs: orders go there from now on. */
  runs(send: (event: WorkflowMachineEvent) => void): void;
  /** Ends it without its machine; nothing happens when it has ended. */
  fail(status: 'failed' | 'cancelled', facts: FailureFacts): void;
}

/** Reason of a fallback from an open circuit (W-2). */
const circuitOpenReason = 'Circuit breaker OPEN - too many recent failures';

type RunRuntime = Pick<Runtime, 'clock' | 'bus' | 'deadlines' | 'signals'>;

/** Creates one run: its handle, and what its machine is told and tells. Its deadline runs from now. */
export function createRun<I, R, S>(runtime: RunRuntime, input: I, options: RunOptions<I, R, S>): OwnedRun<R, S> {
  const { clock, bus, deadlines, signals } = runtime;
  const { id, workflow, backends, overallMs, signal, session } = options;
  const startedAt = clock.now();
  const log = createEventLog(options.redact);
  const records = createRunRecords(bus, { workflow, run: id, session }, () => clock.now());
  const parts: RunParts<I, R> = {
    ...options,
    session,
    clock,
    deadlines,
    input,
    log,
    records,
    handover: createHandover(),
  };
  const failures: Failure[] = [];
  const fallbacks: WorkflowFallback[] = [];
  let supervised = backendAt(0);
  let turn: BackendTurn<R, S> | undefined;
  let turnStartedAt = startedAt;
  /** Table of the last plan. */
  let table: ItemTable<R> | undefined;
  let send: ((event: WorkflowMachineEvent) => void) | undefined;
  let isOver = false;
  let settle: (outcome: WorkflowOutcome<R, S>) => void = () => undefined;
  const outcome = new Promise<WorkflowOutcome<R, S>>((resolve) => {
    settle = resolve;
  });

  const deadline: Deadline = {
    due: startedAt + overallMs,
    heapIndex: -1,
    expire() {
      if (send !== undefined) send({ type: 'run.expired' });
      else fail('failed', refusal.notStarted(overallMs));
    },
  };
  const watcher: AbortWatcher = { aborted: cancel };
  deadlines.set(deadline);
  if (signal !== undefined && !signal.aborted) signals.watch(signal, watcher);

  return {
    handle: {
      id,
      get progress() {
        const shown = isOver ? table : turn?.table;
        return {
          backend: nameNow(),
          phase: isOver ? 'ended' : (turn?.phase ?? 'planning'),
          ended: shown?.ended ?? 0,
          total: shown?.items.length ?? 0,
          running: isOver ? [] : (turn?.running() ?? []),
        };
      },
      outcome,
      cancel,
      events: (after) => log.events(after),
    },
    get turn() {
      if (turn === undefined) throw new Error(`No backend of ${id} has had its turn`);
      return turn;
    },
    takeTurn(place) {
      supervised = backendAt(place);
      turn = createBackendTurn(parts, supervised);
      if (place > 0) turnStartedAt = clock.now();
      else log.push({ type: 'workflow_started', data: { run: id, backend: nameNow() } });
      return turn;
    },
    heard(event) {
      if (isOver) return;
      if (event.type === 'backend.began') records.began(nameNow());
      else if (event.type === 'backend.ended') turnEnded(event.end, event.next);
      else finish(event.status);
    },
    runs(sendEvent) {
      send = sendEvent;
    },
    fail,
  };

  function backendAt(place: number): SupervisedBackend<I, R, S> {
    const found = backends[place];
    if (found === undefined) throw new RangeError(`The workflow ${workflow} has no backend ${place}`);
    return found;
  }

  function nameNow(): string {
    return supervised.backend.name;
  }

  function cancel(reason?: unknown): void {
    if (isOver) return;
    if (send !== undefined) send({ type: 'run.cancel', reason });
    else fail('cancelled', refusal.cancelled(reason, false));
  }

  function turnEnded(end: BackendEnd, next: string | undefined): void {
    const from = nameNow();
    const { link, name } = supervised.path;
    table = turn?.table ?? table;
    const about = { link, tripped: supervised.tripped(), table: turn?.table, elapsedMs: clock.now() - turnStartedAt };
    if (end.ok) {
      records.completed(from, about);
      return;
    }
    const lost = { ...refusal.machineLost(name), cause: end.error };
    const failure = end.failure ?? failureOf(lost);
    failures.push(failure);
    records.failed(from, failure, next, about);
    if (next === undefined) return;
    const reason = failure.kind === 'circuit_open' ? circuitOpenReason : failure.message;
    const fallback = { from, to: next, reason };
    fallbacks.push(fallback);
    records.fellBack(fallback);
    log.push({ type: 'workflow_fallback', data: fallback });
  }

  function fail(status: 'failed' | 'cancelled', facts: FailureFacts): void {
    if (isOver) return;
    failures.push(failureOf(facts));
    finish(status);
  }

  function failureOf(facts: FailureFacts): Failure {
    return { ...facts, integration: `workflow:${workflow}`, attempts: 0, retryable: facts.kind === 'unavailable' };
  }

  function finish(status: WorkflowStatus): void {
    if (isOver) return;
    isOver = true;
    deadlines.remove(deadline);
    if (signal !== undefined) signals.unwatch(signal, watcher);
    const backend = nameNow();
    const ownFailure = status === 'cancelled' ? failures.at(-1) : failureOfAll(workflow, failures);
    const failure = status === 'failed' || status === 'cancelled' ? ownFailure : undefined;
    const message = endText(status, backend, table, failure);
    const { done = 0, failed = 0, skipped = 0 } = table ?? {};
    const items = table?.results() ?? [];
    log.push({ type: 'workflow_ended', data: { status, message, backend, done, failed, skipped } });
    log.end();
    options.ended();
    const elapsedMs = Math.round(clock.now() - startedAt);
    settle({ status, message, backend, items, summary: turn?.summary, fallbacks, failure, elapsedMs });
  }
}

/** The one failure of a run that no backend ended: of several backends it holds all of theirs. */
function failureOfAll(workflow: string, failures: readonly Failure[]): Failure | undefined {
  const last = failures.at(-1);
  if (last === undefined || failures.length === 1) return last;
  const causes = failures.map((failure) => new IntegrationError(failure));
  const told = failures.map(({ integration, message }) => `${integration}: ${message}`).join('; ');
  return {
    ...last,
    message: `No backend of ${workflow} could end its run: ${told}`,
    integration: `workflow:${workflow}`,
    attempts: failures.reduce((sum, { attempts }) => sum + attempts, 0),
    outcome: failures.some(({ outcome }) => outcome === 'unknown') ? 'unknown' : last.outcome,
    retryable: failures.some(({ retryable }) => retryable),
    cause: new AggregateError(causes, `${failures.length} backends failed`),
  };
}

/** Says in one sentence for people how a run ended. */
function endText(
  status: WorkflowStatus,
  backend: string,
  table: ItemTable<unknown> | undefined,
  failure: Failure | undefined,
): string {
  const { done = 0, failed = 0, skipped = 0 } = table ?? {};
  const total = table?.items.length ?? 0;
  switch (status) {
    case 'succeeded':
      return `${done} of ${itemsText(total)} done by ${backend}`;
    case 'partial':
      return `${done} of ${itemsText(total)} done by ${backend}, ${failed} failed, ${skipped} skipped`;
    case 'failed':
    case 'cancelled': {
      const word = status === 'failed' ? 'Failed' : 'Cancelled';
      const why = (failure?.message ?? 'it is not known why').replace(/^Cancelled: /, '');
      return `${word} with ${done} of ${itemsText(total)} done: ${why}`;
    }
  }
}

const itemsText = (count: number): string => (count === 1 ? '1 item' : `${count} items`);
