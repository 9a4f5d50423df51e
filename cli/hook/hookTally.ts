import { KnownSecrets, createFactRedactor } from '../../src/redaction/face.ts';
import { claimProbe, systemClock } from '../../src/runtime/face.ts';
import { openForMs, openingRule, presets, reopeningRule } from '../../src/policy/face.ts';
import type { Fact } from '../../src/policy/facts/face.ts';
import { type PersistedBreaker, causeText, neverOpened, openText } from '../../src/policy/records/face.ts';
import type { HookFailure } from './hookOutcome.ts';
import type { Store } from '../../src/store/face.ts';

/** Admission of a run; `probe`: the circuit as it was when this run became the one that tries it. */
export type HookAdmission =
  | { readonly admitted: true; readonly probe?: PersistedBreaker | undefined }
  | { readonly admitted: false; readonly retryAfterMs: number };

/** Run of a hook, as its circuit knows it. */
interface HookRunName {
  /** Key of the circuit. */
  readonly key: string;
  /** Name of this process: holds the lease of a probe. */
  readonly owner: string;
}

const { breaker: policy } = presets.hook;

/** Admits the run: freely while the circuit is closed, one at a time when it has been open for long enough. */
export async function admitRun(store: Store, { key }: HookRunName, leaseMs: number): Promise<HookAdmission> {
  const row = store.breakers.load(key);
  if (row?.state !== 'open') return { admitted: true };
  const wallNow = systemClock.wallNow();
  // The wall clock may have stepped: what is left is never more than the circuit was to stay open.
  const leftMs = Math.min(row.openUntil - wallNow, row.lastOpenMs);
  const claim = { name: key, generation: row.generation, leaseMs: leaseMs + policy.probeLeaseGraceMs, wallNow };
  if (leftMs <= 0 && claimProbe(store.breakers, claim)) {
    return { admitted: true, probe: row };
  }
  const retryAfterMs = leftMs > 0 ? leftMs : leaseMs;
  // Refusals come in floods: one record for each time the circuit opened.
  const refusals = await store.read({ category: 'integration', integration: key, since: row.openedAt, limit: 1 });
  if (refusals.length === 0) {
    const message = openText(key, row.cause, leftMs > 0 ? leftMs : 'tried');
    const refusal = { kind: 'circuit_open', message, retryAfterMs, refused: 0 } as const;
    record(store, { type: 'call.refused', integration: key, call: `${process.pid}.${wallNow}`, ...refusal });
  }
  return { admitted: false, retryAfterMs };
}

/**
 * Counts a run that proved life: the count starts anew, and a probe closes the circuit. False when the circuit is open and this
 * run has no say in it: it began before.
 */
export function countAnswer(store: Store, { key }: HookRunName, probe: PersistedBreaker | undefined): boolean {
  const row = store.breakers.load(key) ?? neverOpened;
  if (row.state === 'closed') store.breakers.saveFailures(key, row.generation, 0);
  else if (row.generation === probe?.generation) {
    store.breakers.save(key, { ...neverOpened, openedAt: row.openedAt, generation: row.generation + 1 });
    record(store, { type: 'breaker.closed', integration: key });
  } else return false;
  return true;
}

/** Counts a run that failed, by the rules of the preset `hook`; a failed probe opens the circuit again. */
export async function countFailure(
  store: Store,
  { key }: HookRunName,
  { kind, message: said }: Pick<HookFailure, 'kind' | 'message'>,
  probe: PersistedBreaker | undefined,
): Promise<void> {
  const row = store.breakers.load(key) ?? neverOpened;
  const isOpen = row.state === 'open';
  if (isOpen && row.generation !== probe?.generation) return;
  const failures = isOpen ? row.failures + 1 : await countOne(store, key, row.generation);
  const rule = isOpen
    ? reopeningRule(row.cause?.rule)
    : openingRule(kind, { consecutive: failures, failures: 0, total: 0 }, policy);
  if (rule === undefined) return;
  const openedAt = systemClock.wallNow();
  const lastOpenMs = openForMs(policy, row.openings);
  const message = causeText(masked({ said }).said);
  store.breakers.save(key, {
    state: 'open',
    openedAt,
    openUntil: openedAt + lastOpenMs,
    lastOpenMs,
    openings: row.openings + 1,
    failures,
    generation: row.generation + 1,
    // Each run is a process of its own: the others are on record as failures of the hook.
    cause: {
      kind,
      message,
      rule,
      failures: [{ kind, message, call: `${process.pid}.${openedAt}`, attempt: 1, at: openedAt }],
    },
  });
  record(store, { type: 'breaker.opened', integration: key, openForMs: lastOpenMs, kind, rule, cause: message });
}

/** Counts the failures that are in a row now, also when another process held the lock for a moment. */
async function countOne(store: Store, key: string, generation: number): Promise<number> {
  const counted = store.breakers.countFailure(key, generation);
  if (counted !== undefined) return counted;
  await store.flush();
  const row = store.breakers.load(key);
  return row?.generation === generation ? row.failures : 0;
}

/** Secrets that no record of a hook holds. */
export const hookSecrets = new KnownSecrets(process.env);

export const masked = createFactRedactor(hookSecrets);

/** Keeps a fact with the time of now. Nobody listens here: it is masked as it is recorded. */
export function record(store: Store, fact: Fact): void {
  store.record(masked({ ...fact, at: systemClock.wallNow() }));
}
