import { AsyncLocalStorage } from 'node:async_hooks';
import { type AttemptContext, type Call, type CallPath, markRetried } from '../src/calls/face.ts';
import type { Failure, Outcome } from '../src/policy/failures/face.ts';
import type { ItemFigures } from './runMachine.ts';
import type { DoneItem } from './handover.ts';
import { criticalError, endedWith, nothingDone } from './itemFailures.ts';
import { itemRule } from './itemRule.ts';
import type { ItemTable } from './itemTable.ts';
import { createAbandonedWork, type WorkOfItem } from './abandonedWork.ts';
import type { RunParts } from './runParts.ts';
import { settingsOf, type SupervisedBackend, type Work } from './supervisedBackend.ts';
import type {
  WorkflowBackend,
  WorkflowEvent,
  WorkflowItem,
  WorkflowItemContext,
  WorkflowProgress,
  WorkflowStepContext,
  WorkflowWorkItem,
} from './workflowTypes.ts';

type ItemEvent = Extract<WorkflowEvent, { type: 'workflow_item' }>['data'];

/**
 * Does the items of a plan, so many at once, each as soon as what it depends on is done. What earlier backends did is taken over; what they
 * may have done without anybody knowing is not done twice.
 */
export class ItemWork<I, R, S> {
  readonly #run: RunParts<I, R>;
  readonly #backend: WorkflowBackend<I, R, S>;
  readonly #path: CallPath<Work, unknown>;
  readonly #table: ItemTable<R>;
  readonly #whole: Pick<WorkflowStepContext, 'signal' | 'touch'>;
  readonly #changed: (figures: ItemFigures) => void;
  /** By the place of an item in the plan: its attempt, and its call. */
  readonly #attempts = new Map<number, number>();
  readonly #calls = new Map<number, Call<Work, unknown>>();
  readonly #abandonedWork: ReturnType<typeof createAbandonedWork>;
  /** Items belong to where they were planned, whichever item's end begins them. */
  readonly #within = AsyncLocalStorage.snapshot();
  #isPumping = false;
  #isPumpQueued = false;
  #isStopped = false;
  #critical: unknown = undefined;

  /**
   * @param whole - the step they are: nothing is begun after its abort, and their signs of life are its own.
   * @param changed - hears of the beginning, and of every end of an item.
   */
  constructor(
    run: RunParts<I, R>,
    { backend, items: path }: SupervisedBackend<I, R, S>,
    table: ItemTable<R>,
    whole: Pick<WorkflowStepContext, 'signal' | 'touch'>,
    changed: (figures: ItemFigures) => void,
  ) {
    this.#run = run;
    this.#backend = backend;
    this.#path = path;
    this.#table = table;
    this.#whole = whole;
    this.#changed = changed;
    this.#abandonedWork = createAbandonedWork(run, path.policy.abortGraceMs, () => this.#pumpSoon());
  }

  begin(): void {
    this.#takeOver();
    this.#tellFigures();
    this.#pump();
  }

  /** Items at work, in the order of the plan. */
  running(): WorkflowProgress['running'] {
    return [...this.#attempts]
      .sort(([a], [b]) => a - b)
      .flatMap(([place, attempt]) => {
        const item = this.#table.items[place];
        return item === undefined
          ? []
          : [{ id: item.id, action: item.action, attempt, maxAttempts: this.#attemptsOf(item) }];
      });
  }

  /** Ends what is at work; nothing more is begun. */
  stop(): void {
    this.#isStopped = true;
    for (const call of [...this.#calls.values()]) {
      this.#path.end(call, endedWith(this.#backend.name, call.attempt !== undefined));
    }
    this.#abandonedWork.stop();
  }

  #takeOver(): void {
    for (const [place, { id }] of this.#table.items.entries()) this.#tookOver(place, id);
    // After what is done, or an item might be skipped that an earlier backend has done.
    for (const [place, item] of this.#table.items.entries()) {
      if (this.#table.result(place) !== undefined) continue;
      const refusal = this.#run.handover.refusal(item, this.#path.name, this.#path.policy.retry.repeatAfter);
      if (refusal !== undefined) this.#fail(place, item, refusal, 0);
    }
  }

  /** @returns whether an earlier backend has done the item. */
  #tookOver(place: number, id: string): boolean {
    const done = this.#run.handover.results.get(id);
    if (done === undefined) return false;
    this.#table.end(place, done);
    this.#tell(place, 'handed_over', done.attempts);
    return true;
  }

  /** Waits, as this may be the first of limits that are over in the same moment: what is begun then would be aborted by the next. */
  #pumpSoon(): void {
    if (this.#isPumpQueued) return;
    this.#isPumpQueued = true;
    queueMicrotask(() => {
      this.#isPumpQueued = false;
      this.#pump();
    });
  }

  /** A loop: what ends at once would begin the next within itself, and a long plan overflow the stack. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    let tookMore = false;
    while (
      !this.#isStopped &&
      !this.#whole.signal.aborted &&
      this.#attempts.size + this.#abandonedWork.size < this.#run.concurrency
    ) {
      const place = this.#table.next();
      const item = place === undefined ? undefined : this.#table.items[place];
      if (place === undefined || item === undefined) break;
      // Work of an earlier backend may end at any time.
      if (this.#tookOver(place, item.id)) tookMore = true;
      else this.#beginItem(place, item);
    }
    this.#isPumping = false;
    if (tookMore) this.#tellFigures();
  }

  /** Puts what the item says of itself before what its backend's policy says. */
  #attemptsOf(item: WorkflowItem | undefined): number {
    return item?.maxAttempts ?? this.#path.policy.retry.maxAttempts;
  }

  #beginItem(place: number, item: WorkflowWorkItem): void {
    const maxAttempts = this.#attemptsOf(item);
    let attempt = 1;
    const startedAt = this.#run.clock.wallNow();
    let own: WorkOfItem | undefined;
    this.#attempts.set(place, attempt);
    const { policy } = this.#path;
    const settings = settingsOf(policy, {
      retry: { ...policy.retry, maxAttempts },
      effect: item.effect,
      label: item.id,
      session: this.#run.session,
      reconcile: this.#run.reconcile && itemRule(this.#run.reconcile, item, this.#backend.name),
      retried: (facts, tried) => {
        own?.givenUp();
        this.#tell(place, 'retrying', tried, facts.message);
        this.#run.records.itemFailed(this.#backend.name, { item, facts, attempt: tried, maxAttempts, final: false });
      },
      // Too late for this backend, but no other need do it again.
      late: (value) => this.#run.handover.add(this.#doneItem(item, value as R, attempt)),
    });
    const work: Work = async (context) => {
      ({ attempt } = context);
      this.#attempts.set(place, attempt);
      this.#whole.touch();
      this.#tell(place, 'running', attempt);
      const begun = (own = this.#abandonedWork.begin());
      try {
        return await this.#backend.item(item, this.#itemContext(context));
      } finally {
        begun.ended();
      }
    };
    const call = this.#within(() =>
      this.#path.start(work, settings, (outcome) => {
        own?.givenUp();
        this.#settled(place, item, outcome, startedAt);
      }),
    );
    if (!call.settled) this.#calls.set(place, call);
  }

  #itemContext(context: AttemptContext): WorkflowItemContext {
    const { touch } = this.#whole;
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
      session: this.#run.session,
      done: this.#run.handover.values,
      found: this.#run.handover.words,
      attempt: context.attempt,
      maxAttempts: context.maxAttempts,
    };
  }

  #settled(place: number, item: WorkflowWorkItem, outcome: Outcome<unknown>, startedAt: number): void {
    const attempt = this.#attempts.get(place) ?? 1;
    this.#attempts.delete(place);
    this.#calls.delete(place);
    this.#whole.touch();
    const done = doneBy(outcome);
    if (done !== undefined) {
      const result = { ...this.#doneItem(item, done.value as R, attempt), ...done.known };
      this.#run.handover.add(result);
      this.#table.end(place, result);
      this.#tell(place, 'done', attempt);
    } else if (!outcome.ok) {
      const { failure } = outcome;
      if (!this.#isStopped && this.#isCritical(failure, item)) this.#critical ??= criticalError(failure, item);
      this.#fail(place, item, failure, failure.attempts);
      this.#run.handover.failed(item, failure, this.#backend.name, startedAt);
    }
    this.#tellFigures();
    this.#pumpSoon();
  }

  #doneItem({ id, action }: WorkflowItem, value: R, attempt: number): DoneItem<R> {
    return { id, action, status: 'done', value, attempts: attempt, backend: this.#backend.name };
  }

  #fail(place: number, item: WorkflowItem, failure: Failure, attempt: number): void {
    const { id, action } = item;
    const result = { id, action, status: 'failed' as const, failure, attempts: attempt, backend: this.#backend.name };
    const skipped = this.#table.end(place, result);
    let later = skipped.length;
    this.#tell(place, 'failed', attempt, failure.message, later);
    for (const each of skipped) this.#tell(each, 'skipped', 0, undefined, --later);
    this.#run.records.itemFailed(this.#backend.name, {
      item,
      facts: failure,
      attempt,
      maxAttempts: this.#attemptsOf(item),
      final: true,
    });
  }

  #isCritical(failure: Failure, item: WorkflowItem): boolean {
    const usual = failure.kind === 'auth' || failure.kind === 'quota';
    try {
      return this.#backend.isCritical?.(failure, item) ?? usual;
    } catch {
      // A reader that asks about one failed item must not fail for the answer.
      return usual;
    }
  }

  /** @param later - items that have ended as well, of which it is told after this one. */
  #tell(place: number, status: ItemEvent['status'], attempt: number, error?: string, later = 0): void {
    const item = this.#table.items[place];
    const { id = '', action = '' } = item ?? {};
    const figures = { ended: this.#table.ended - later, total: this.#table.items.length };
    const maxAttempts = this.#attemptsOf(item);
    const data = { backend: this.#backend.name, id, action, status, attempt, maxAttempts, ...figures };
    this.#run.log.push({ type: 'workflow_item', data: error === undefined ? data : { ...data, error } });
  }

  #tellFigures(): void {
    const { ended: over, done, items } = this.#table;
    const isNothing = over === items.length && done === 0;
    const error = this.#critical ?? (isNothing ? nothingDone(this.#backend.name, this.#table) : undefined);
    this.#changed({ ended: over, done, total: items.length, critical: this.#critical !== undefined, error });
  }
}

/** Gives what an item ended with that was done, by its own answer or by what its rule found out; undefined of one that was not. */
function doneBy(
  outcome: Outcome<unknown>,
): { readonly value: unknown; readonly known?: { readonly reconciled: string } } | undefined {
  if (outcome.ok) {
    const { value, reconciled } = outcome;
    return reconciled === undefined ? { value } : { value, known: { reconciled } };
  }
  const { outcome: effect, how = '' } = outcome.failure;
  return effect === 'done' ? { value: undefined, known: { reconciled: how } } : undefined;
}
