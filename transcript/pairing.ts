import type { Findings } from './findings.ts';
import { type CallGroup, settleGroup } from './callGroups.ts';
import { type Call, duplicate, isSame, type Result } from './calls.ts';

/** Calls and results in the order in which they stand, and where somebody else than the model speaks between them. */
export type Entry<C extends Call, R extends Result> =
  | { readonly call: C; readonly result?: undefined }
  | { readonly result: R; readonly call?: undefined }
  | { readonly call?: undefined; readonly result?: undefined };

/** Fate of calls and results. */
interface Pairs<C extends Call, R extends Result> {
  /** The one result of each call that has one. */
  readonly kept: ReadonlyMap<C, R>;
  /** Other results that were really given to the call of a result: they are joined to that one. */
  readonly more: ReadonlyMap<R, readonly R[]>;
  /** The calls that stay; those that are told twice or were never made are not among them. */
  readonly calls: ReadonlySet<C>;
  /** The same calls, by those that stood together under one id, in their order. */
  readonly groups: readonly (readonly C[])[];
}

interface Group<C extends Call, R extends Result> extends CallGroup<C, R> {
  /** The run of calls that it is in. */
  readonly round: number;
  /** The turn of the model. */
  readonly turn: number;
}

/**
 * Gives each call the one result that is kept; what is dropped is told to `findings`. Ids may repeat: results of one id go to the
 * nearest calls before them that have none, and within these to the first. Only a result that finds none there belongs to a later
 * call. A real result wins over a synthetic one wherever it stands. A result without an id belongs to the calls that it follows.
 */
export function pair<C extends Call, R extends Result>(
  entries: readonly Entry<C, R>[],
  findings: Findings,
): Pairs<C, R> {
  const groups = new Map<string, Group<C, R>[]>();
  /** Results that found no call, with the number of groups of their key that stood before them. */
  const waiting: { readonly result: R; readonly round: number; readonly before: number }[] = [];
  let round = 0;
  let turn = 0;
  let isRun = false;
  for (const { call, result } of entries) {
    if (call !== undefined) {
      if (!isRun) round++;
      isRun = true;
      joined(call);
      continue;
    }
    isRun = false;
    if (result === undefined) {
      turn++;
      continue;
    }
    const known = groups.get(keyOf(result)) ?? [];
    const open = known.findLast(isOpen);
    if (open !== undefined) open.results.push(result);
    else waiting.push({ result, round, before: known.length });
  }

  const kept = new Map<C, R>();
  const more = new Map<R, readonly R[]>();
  const calls = new Set<C>();
  const settledGroups: (readonly C[])[] = [];
  const nameless: typeof waiting = [];
  for (const each of waiting) {
    const { result, before } = each;
    const known = groups.get(keyOf(result)) ?? [];
    const last = known[before - 1];
    // A result that follows its calls at once is of no later one; a synthetic one is nobody's loss.
    const isOwn = last?.round === each.round || result.synthetic;
    const replaced = known
      .slice(0, before)
      .findLast(({ results }) => !result.synthetic && results.some((r) => r.synthetic));
    const later = known
      .slice(before)
      .find(({ calls, results }) => results.filter((r) => !r.synthetic).length < calls.length);
    const home = replaced ?? (isOwn && last !== undefined ? last : (later ?? last ?? known[0]));
    if (home === undefined) nameless.push(each);
    else home.results.push(result);
  }
  const all = [...groups.values()].flat();
  for (const group of all) {
    const settled = settleGroup(group, findings);
    for (const [call, result] of settled.kept) kept.set(call, result);
    for (const [result, others] of settled.more) more.set(result, others);
    for (const call of settled.calls) calls.add(call);
    settledGroups.push(settled.calls);
  }
  for (const { result, round: after } of nameless) {
    const call = all
      .filter((group) => group.round === after)
      .flatMap((group) => group.calls)
      .toSorted((a, b) => a.at - b.at)
      .find((each) => calls.has(each) && (each.id === '' || result.id === '') && kept.get(each)?.synthetic !== false);
    const loser = call === undefined ? undefined : kept.get(call);
    if (call === undefined || (result.synthetic && loser !== undefined)) {
      findings.add({ rule: 'orphan', at: result.at, callId: result.id });
      continue;
    }
    kept.set(call, result);
    if (loser !== undefined) findings.add(duplicate(call, loser, result));
  }
  return { kept, more, calls, groups: settledGroups };

  /** Puts a call with those of its id that stand beside it, or that have asked for the same and have no result yet. */
  function joined(call: C): void {
    const key = keyOf(call);
    const known = groups.get(key) ?? [];
    groups.set(key, known);
    const home = known.findLast(
      (group) => group.round === round || (group.turn === turn && isOpen(group) && group.calls.some(isSame(call))),
    );
    if (home !== undefined) home.calls.push(call);
    else known.push({ calls: [call], results: [], round, turn });
  }
}

const isOpen = ({ calls, results }: CallGroup<Call, Result>): boolean => results.length < calls.length;

const keyOf = ({ key, id }: Pick<Call, 'key' | 'id'>): string => key ?? id;
