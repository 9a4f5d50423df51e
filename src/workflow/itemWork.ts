import type { Call } from '../calls/call.ts';
import type { AttemptContext } from '../calls/operation.ts';
import { markRetried } from '../calls/workSignal.ts';
import type { Failure, Outcome } from '../policy/failure.ts';
import type { ItemFigures } from '../machines/workflow.ts';
import type { DoneItem } from './handover.ts';
import { criticalError, endedWith, nothingDone } from './itemFailures.ts';
import type { ItemTable } from './itemTable.ts';
import { createOverstays, type WorkOfItem } from './overstays.ts';
import type { RunParts } from './runParts.ts';
import { settingsOf, type SupervisedBackend, type Work } from './supervisedBackend.ts';
import type {
  WorkflowEvent,
  WorkflowItem,
  WorkflowItemContext,
  WorkflowProgress,
  WorkflowStepContext,
  WorkflowWorkItem,
} from './workflowTypes.ts';

/** The items of one backend's plan at work. */
export interface ItemWork {
  /** Items at work, in the order of the plan. */
  running(): WorkflowProgress['running'];
  /** Ends what is at work; nothing more is begun. */
  stop(): void;
}

type ItemEvent = Extract<WorkflowEvent, { type: 'workflow_item' }>['data'];

/**
 * Does the items of a plan, so many at once, each as soon as what it depends on is done. What earlier backends did is taken over; what they
 * may have done without anybody knowing is not done twice.
 * @param whole - the step they are: nothing is begun after its abort, and their signs of life are its own.
 * @param changed - hears of the beginning, and of every end of an item.
 */
export function startItems<I, R, S>(
  run: RunParts<I, R>,
  { backend, items: path }: SupervisedBackend<I, R, S>,
  table: ItemTable<R>,
  whole: Pick<WorkflowStepContext, 'signal' | 'touch'>,
  changed: (figures: ItemFigures) => void,
): ItemWork {
  const { handover, log, records, session } = run;
  const { retry } = path.policy;
  const { signal, touch } = whole;
  const attempts = new Map<number, number>();
  const calls = new Map<number, Call<Work, unknown>>();
  const overstays = createOverstays(run, path.policy.abortGraceMs, pumpSoon);
  let isPumping = false;
  let isPumpQueued = false;
  let isStopped = false;
  let critical: unknown;

  takeOver();
  tellFigures();
  pump();

  return {
    running: () =>
      [...attempts]
        .sort(([a], [b]) => a - b)
        .flatMap(([place, attempt]) => {
          const item = table.items[place];
          return item === undefined
            ? []
            : [{ id: item.id, action: item.action, attempt, maxAttempts: attemptsOf(item) }];
        }),
    stop() {
      isStopped = true;
      for (const call of [...calls.values()]) path.end(call, endedWith(backend.name, call.attempt !== undefined));
      overstays.stop();
    },
  };

  function takeOver(): void {
    for (const [place, { id }] of table.items.entries()) tookOver(place, id);
    // After what is done, or an item might be skipped that an earlier backend has done.
    for (const [place, item] of table.items.entries()) {
      if (table.result(place) !== undefined) continue;
      const refusal = handover.refusal(item, path.name, retry.repeatAfter);
      if (refusal !== undefined) fail(place, item, refusal, 0);
    }
  }

  /** @returns whether an earlier backend has done the item. */
  function tookOver(place: number, id: string): boolean {
    const done = handover.results.get(id);
    if (done === undefined) return false;
    table.end(place, done);
    tell(place, 'handed_over', done.attempts);
    return true;
  }

  /** Of limits that are over in the same moment this may be the first: what is begun then would be aborted by the next. */
  function pumpSoon(): void {
    if (isPumpQueued) return;
    isPumpQueued = true;
    queueMicrotask(() => {
      isPumpQueued = false;
      pump();
    });
  }

  /** A loop: what ends at once would begin the next within itself, and a long plan overflow the stack. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    let tookMore = false;
    while (!isStopped && !signal.aborted && attempts.size + overstays.size < run.concurrency) {
      const place = table.next();
      const item = place === undefined ? undefined : table.items[place];
      if (place === undefined || item === undefined) break;
      // Work of an earlier backend may end at any time.
      if (tookOver(place, item.id)) tookMore = true;
      else begin(place, item);
    }
    isPumping = false;
    if (tookMore) tellFigures();
  }

  /** What the item says of itself comes before what its backend's policy says. */
  function attemptsOf(item: WorkflowItem | undefined): number {
    return item?.maxAttempts ?? retry.maxAttempts;
  }

  function begin(place: number, item: WorkflowWorkItem): void {
    const maxAttempts = attemptsOf(item);
    let attempt = 1;
    let own: WorkOfItem | undefined;
    attempts.set(place, attempt);
    const settings = settingsOf(path.policy, {
      retry: { ...retry, maxAttempts },
      effect: item.effect,
      label: item.id,
      session,
      retried(facts, tried) {
        own?.givenUp();
        tell(place, 'retrying', tried, facts.message);
        records.itemFailed(backend.name, { item, facts, attempt: tried, maxAttempts, final: false });
      },
      // Too late for this backend, but no other need do it again.
      late: (value) => handover.add(doneItem(item, value as R, attempt)),
    });
    const work: Work = async (context) => {
      ({ attempt } = context);
      attempts.set(place, attempt);
      touch();
      tell(place, 'running', attempt);
      const begun = (own = overstays.begin());
      try {
        return await backend.item(item, itemContext(context));
      } finally {
        begun.ended();
      }
    };
    const call = path.start(work, settings, (outcome) => {
      own?.givenUp();
      settled(place, item, outcome);
    });
    if (!call.settled) calls.set(place, call);
  }

  function itemContext(context: AttemptContext): WorkflowItemContext {
    return {
      get signal() {
        const { signal: own } = context;
        markRetried(own, context.maxAttempts);
        return own;
      },
      touch() {
        context.touch();
        touch();
      },
      session,
      done: handover.values,
      attempt: context.attempt,
      maxAttempts: context.maxAttempts,
    };
  }

  function settled(place: number, item: WorkflowItem, outcome: Outcome<unknown>): void {
    const attempt = attempts.get(place) ?? 1;
    attempts.delete(place);
    calls.delete(place);
    touch();
    if (outcome.ok) {
      const result = doneItem(item, outcome.value as R, attempt);
      handover.add(result);
      table.end(place, result);
      tell(place, 'done', attempt);
    } else {
      const { failure } = outcome;
      if (!isStopped && isCritical(failure, item)) critical ??= criticalError(failure, item);
      fail(place, item, failure, failure.attempts);
      handover.failed(item, failure);
    }
    tellFigures();
    pumpSoon();
  }

  function doneItem({ id, action }: WorkflowItem, value: R, attempt: number): DoneItem<R> {
    return { id, action, status: 'done', value, attempts: attempt, backend: backend.name };
  }

  function fail(place: number, item: WorkflowItem, failure: Failure, attempt: number): void {
    const { id, action } = item;
    const result = { id, action, status: 'failed' as const, failure, attempts: attempt, backend: backend.name };
    const skipped = table.end(place, result);
    let later = skipped.length;
    tell(place, 'failed', attempt, failure.message, later);
    for (const each of skipped) tell(each, 'skipped', 0, undefined, --later);
    records.itemFailed(backend.name, {
      item,
      facts: failure,
      attempt,
      maxAttempts: attemptsOf(item),
      final: true,
    });
  }

  function isCritical(failure: Failure, item: WorkflowItem): boolean {
    const usual = failure.kind === 'auth' || failure.kind === 'quota';
    try {
      return backend.isCritical?.(failure, item) ?? usual;
    } catch {
      // Who asks about one failed item must not fail for the answer.
      return usual;
    }
  }

  /** @param later - items that have ended as well, of which it is told after this one. */
  function tell(place: number, status: ItemEvent['status'], attempt: number, error?: string, later = 0): void {
    const item = table.items[place];
    const { id = '', action = '' } = item ?? {};
    const figures = { ended: table.ended - later, total: table.items.length };
    const maxAttempts = attemptsOf(item);
    const data = { backend: backend.name, id, action, status, attempt, maxAttempts, ...figures };
    log.push({ type: 'workflow_item', data: error === undefined ? data : { ...data, error } });
  }

  function tellFigures(): void {
    const { ended: over, done, items } = table;
    const error = critical ?? (over === items.length && done === 0 ? nothingDone(backend.name, table) : undefined);
    changed({ ended: over, done, total: items.length, critical: critical !== undefined, error });
  }
}
