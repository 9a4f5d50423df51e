import { AsyncLocalStorage } from 'node:async_hooks';
import { type AttemptContext, type Call, refusal } from '../src/calls/face.ts';
import type { BackendOrder, ItemFigures, WorkflowMachineEvent } from './runMachine.ts';
import { formatDuration } from '../src/policy/text/face.ts';
import type { Failure, FailureFacts, Outcome } from '../src/policy/failures/face.ts';
import type { Finding } from '../src/policy/face.ts';
import type { DoubtfulItem } from './handover.ts';
import { endedWith } from './itemFailures.ts';
import { type CheckedReconcile, itemRule } from './itemRule.ts';
import { createItemTable, type ItemTable } from './itemTable.ts';
import { ItemWork } from './itemWork.ts';
import { checkPlan } from './plan.ts';
import type { RunParts } from './runParts.ts';
import { plannedItem } from './runRecords.ts';
import { settingsOf, type SupervisedBackend, type Work } from './supervisedBackend.ts';
import type { WorkflowProgress, WorkflowStepContext } from './workflowTypes.ts';

/** Turn of one backend in a run: what fills the slots of the machine while it has it. */
export interface BackendTurn<R, S> {
  readonly phase: WorkflowProgress['phase'];
  /** Once it has planned. */
  readonly table: ItemTable<R> | undefined;
  readonly summary: S | undefined;
  running(): WorkflowProgress['running'];
  /** Makes the call that the whole turn is. Nothing goes on when its end has been told. */
  call(tell: (event: WorkflowMachineEvent) => void): BackendCall;
  plan(): Promise<void>;
  /** Never rejects. */
  check(): Promise<{ readonly problems: number; readonly error?: unknown }>;
  /** @returns how to stop them. */
  items(changed: (figures: ItemFigures) => void): () => void;
  summarize(): Promise<void>;
}

interface BackendCall {
  order(order: BackendOrder): void;
  /** Ends it, if it has not ended. */
  stop(): void;
}

export function createBackendTurn<I, R, S>(
  run: RunParts<I, R>,
  supervised: SupervisedBackend<I, R, S>,
): BackendTurn<R, S> {
  const { backend, path } = supervised;
  let phase: WorkflowProgress['phase'] = 'planning';
  let context: AttemptContext | undefined;
  let plan: unknown;
  let mode: string | undefined;
  let table: ItemTable<R> | undefined;
  let work: ItemWork<I, R, S> | undefined;
  let summary: S | undefined;
  /** Runs what belongs to the call that the turn is: the machine that asks for it stands elsewhere. */
  let within: ReturnType<typeof AsyncLocalStorage.snapshot> = (run, ...given) => run(...given);
  /** The step of the backend that is under way. */
  let step: Promise<unknown> = Promise.resolve();

  const stepContext: WorkflowStepContext = {
    get signal() {
      return context?.signal ?? AbortSignal.abort();
    },
    touch: () => context?.touch(),
    session: run.session,
    done: run.handover.values,
    found: run.handover.words,
  };

  /** Takes what a backend does, which may throw at once, or be no promise. */
  async function taken<T>(begin: () => T | PromiseLike<T>): Promise<T> {
    const answer = Promise.resolve().then(() => within(begin));
    step = answer.catch(() => undefined);
    return await answer;
  }

  return {
    get phase() {
      return phase;
    },
    get table() {
      return table;
    },
    get summary() {
      return summary;
    },
    running: () => work?.running() ?? [],
    call,
    async plan() {
      await askFirst();
      plan = await taken(() => backend.plan(run.input, stepContext));
    },
    async check() {
      try {
        const sound = await checkPlan(backend.name, plan);
        ({ mode } = sound);
        table = createItemTable<R>(sound, backend.name);
        return { problems: 0 };
      } catch (error) {
        return { problems: 1, error };
      } finally {
        plan = undefined;
      }
    },
    items(changed) {
      if (table === undefined) throw new Error(`${backend.name} has no plan`);
      phase = 'working';
      const { items } = table;
      run.records.planned(backend.name, items, mode);
      const said = mode === undefined ? {} : { mode };
      run.log.push({
        type: 'workflow_planned',
        data: { backend: backend.name, items: items.map(plannedItem), ...said },
      });
      const ofTurn = table;
      const begun = within(() => new ItemWork(run, supervised, ofTurn, stepContext, changed));
      begun.begin();
      work = begun;
      return () => begun.stop();
    },
    async summarize() {
      phase = 'summing_up';
      const { summary: sumUp } = backend;
      if (sumUp !== undefined) summary = await taken(() => sumUp(table?.results() ?? [], stepContext));
    },
  };

  /** Finds out what earlier backends have left open, as far as it can be known, before anything is planned. */
  async function askFirst(): Promise<void> {
    const { reconcile, handover } = run;
    if (reconcile === undefined || handover.doubtful.length === 0) return;
    phase = 'reconciling';
    const { signal } = stepContext;
    await taken(() => askAboutItems(run, supervised, reconcile, signal));
    signal.throwIfAborted();
    phase = 'planning';
  }

  function call(tell: (event: WorkflowMachineEvent) => void): BackendCall {
    let close = (_failed: boolean, _error: unknown): void => undefined;
    const whole: Work = (attempt) =>
      new Promise((resolve, reject) => {
        context = attempt;
        within = AsyncLocalStorage.snapshot();
        const { signal } = attempt;
        close = (failed, error) => (failed ? reject(error as Error) : resolve(undefined));
        // A step that goes on after its abort is watched as the work of every other call is.
        signal.addEventListener('abort', () => void step.then(() => reject(signal.reason as Error)), { once: true });
        tell({ type: 'call.admitted' });
      });
    const row: Call<Work, unknown> = path.start(
      whole,
      settingsOf(path.policy, { label: run.id, session: run.session }),
      (outcome) => {
        // Later: the call path has yet to tell of the end, and what follows may come back to it.
        queueMicrotask(() => {
          const { done = 0, failed = 0, skipped = 0 } = table ?? {};
          const failure = outcome.ok ? undefined : outcome.failure;
          tell({ type: 'call.ended', ok: outcome.ok, failure, done, undone: failed + skipped });
        });
      },
    );
    return {
      order(order) {
        if (order.type === 'call.close') close(order.failed, order.error);
        else path.end(row, endFacts(order, row));
      },
      stop: () => path.end(row, refusal.stopped(path.name)),
    };
  }

  function endFacts(
    { ending, reason }: Extract<BackendOrder, { type: 'call.end' }>,
    row: Call<Work, unknown>,
  ): FailureFacts {
    if (ending === 'stopped') return refusal.stopped(path.name);
    if (ending === 'cancelled') return refusal.cancelled(reason, row.attempt !== undefined);
    const message = `The run was not done within ${formatDuration(run.overallMs)}`;
    return { kind: 'timeout', reason: 'overall_timeout', message, outcome: 'unknown' };
  }
}

/** Work on an item whose end is asked for: nothing is done. */
const nothing: Work = () => Promise.reject(new Error('The item is asked about, not done'));

/**
 * Asks the rule of a workflow what became of the items that earlier backends had begun and whose end is not known, before the next backend begins.
 * What was found is handed over. Ends with the signal; never rejects.
 */
async function askAboutItems<I, R, S>(
  run: RunParts<I, R>,
  supervised: SupervisedBackend<I, R, S>,
  rule: CheckedReconcile,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(run.handover.doubtful.map((doubt) => askAbout(run, supervised, rule, doubt, signal)));
}

async function askAbout<I, R, S>(
  run: RunParts<I, R>,
  { backend, items: path }: SupervisedBackend<I, R, S>,
  rule: CheckedReconcile,
  doubt: DoubtfulItem,
  signal: AbortSignal,
): Promise<void> {
  const { item, failure, backend: from, startedAt } = doubt;
  const settings = settingsOf(path.policy, {
    ...{ effect: item.effect, label: item.id, session: run.session },
    reconcile: itemRule(rule, item, from),
    // The item is a call of the backend that began it, which was told of there: this one has done nothing yet.
    isPart: true,
  });
  let call: Call<Work, unknown> | undefined;
  const end = (): void => {
    if (call !== undefined) path.end(call, endedWith(backend.name, false));
  };
  const outcome = await new Promise<Outcome<unknown>>((resolve) => {
    call = path.starts.recover(nothing, settings, { startedAt, facts: failure }, resolve);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  signal.removeEventListener('abort', end);
  // The next backend asks again.
  if (signal.aborted) return;
  const finding = outcome.ok
    ? ({ verdict: 'done', how: outcome.reconciled ?? '', result: { value: outcome.value } } as const)
    : findingOf(outcome.failure);
  run.handover.found(item.id, finding);
  const { verdict, how } = finding;
  const { id, action } = item;
  run.log.push({ type: 'workflow_reconciled', data: { backend: backend.name, from, id, action, verdict, how } });
}

function findingOf({ outcome, how, message }: Failure): Finding {
  const verdict = outcome === 'done' || outcome === 'not_done' ? outcome : 'unknown';
  return { verdict, how: how ?? message };
}
