import type { Call } from '../calls/call.ts';
import type { Failure, Outcome } from '../policy/failure.ts';
import type { Finding } from '../policy/reconcileMatch.ts';
import type { DoubtfulItem } from './handover.ts';
import { endedWith } from './itemFailures.ts';
import { type CheckedReconcile, itemRule } from './itemRule.ts';
import type { RunParts } from './runParts.ts';
import { settingsOf, type SupervisedBackend, type Work } from './supervisedBackend.ts';

/** Work on an item whose end is asked for: nothing is done. */
const nothing: Work = () => Promise.reject(new Error('The item is asked about, not done'));

/**
 * Asks the rule of a workflow what became of the items that earlier backends had begun and whose end is not known, before the next backend begins.
 * What was found is handed over. Ends with the signal; never rejects.
 */
export async function askAboutItems<I, R, S>(
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
