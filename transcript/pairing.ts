import type { Findings } from './findings.ts';
import { type Call, duplicate, isSame, type Result } from './calls.ts';
import { OwnIds } from './ownIds.ts';

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
  /** The ids that calls have in the end: those of one group are told apart. */
  readonly ids: OwnIds;
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
      .filter((each) => calls.has(each) && (each.id === '' || result.id === '') && result.fits?.(each) !== false)
      .find((each) => kept.get(each)?.synthetic !== false);
    const loser = call === undefined ? undefined : kept.get(call);
    if (call === undefined || (result.synthetic && loser !== undefined)) {
      findings.add({ rule: 'orphan', at: result.at, callId: result.id });
      continue;
    }
    kept.set(call, result);
    if (loser !== undefined) findings.add(duplicate(call, loser, result));
  }
  const ids = new OwnIds(
    entries.map(({ call, result }) => (call ?? result)?.id ?? ''),
    findings,
  );
  for (const group of settledGroups) ids.tellApart(group);
  return { kept, more, calls, ids };

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

/** Calls that stand together under one id, and the results of that id that belong to them. */
interface CallGroup<C extends Call, R extends Result> {
  readonly calls: C[];
  readonly results: R[];
}

/** Group as it is in the end. */
interface SettledGroup<C extends Call, R extends Result> {
  readonly kept: ReadonlyMap<C, R>;
  /** Other results that were really given to a call whose result is kept: they are joined to that one. */
  readonly more: ReadonlyMap<R, readonly R[]>;
  /** The calls that stay; each is to have an id of its own. */
  readonly calls: readonly C[];
}

/**
 * Gives each call of a group its result, in their order, or by the name of the tool where a result has it. A call that asks for the
 * same as one before it is that one told twice, unless it has a real result that says something else.
 */
export function settleGroup<C extends Call, R extends Result>(
  { calls, results }: CallGroup<C, R>,
  findings: Findings,
): SettledGroup<C, R> {
  const sound = calls.filter(({ isPartial }) => isPartial !== true);
  const firsts = sound.filter((call, index) => !sound.slice(0, index).some(isSame(call)));
  const twins = sound.filter((call) => !firsts.includes(call));
  // As many results as calls: all of them were made. Fewer: what is told twice is answered once, what was cut off never.
  const partial = calls.filter((call) => !sound.includes(call));
  const candidates = results.length >= calls.length ? calls : [...firsts, ...twins, ...partial];
  const held = new Map<C, R[]>();
  for (const result of results) {
    const call =
      candidates.find((each) => !held.has(each) && each === result.owner) ??
      candidates.find((each) => !held.has(each) && each.tool === result.tool) ??
      candidates.find((each) => !held.has(each)) ??
      candidates.find((each) => !result.synthetic && held.get(each)?.every(({ synthetic }) => synthetic)) ??
      candidates.at(-1);
    if (call !== undefined) held.set(call, [...(held.get(call) ?? []), result]);
  }
  const kept = new Map<C, R>();
  const losers: [C, R][] = [];
  for (const [call, each] of held) {
    const winner = each.find(({ synthetic }) => !synthetic) ?? each[0];
    if (winner !== undefined) kept.set(call, winner);
    for (const result of each) if (result !== winner) losers.push([call, result]);
  }
  const gone = new Set<C>(partial.filter((call) => !kept.has(call)));
  for (const { id, tool, at } of gone) findings.add({ rule: 'partial_call', at, callId: id, tool });
  for (const twin of twins) {
    const own = kept.get(twin);
    const first = firsts.find(isSame(twin));
    if (first === undefined) continue;
    const said = kept.get(first);
    const isOther = own !== undefined && !own.synthetic && said?.synthetic === false && !saysSame(own, said);
    if (isOther) continue;
    gone.add(twin);
    findings.add({ rule: 'repeated_call', at: twin.at, callId: twin.id, tool: twin.tool });
    kept.delete(twin);
    if (own === undefined) continue;
    const wins = said === undefined || (said.synthetic && !own.synthetic);
    if (wins) kept.set(first, own);
    if (!wins || said !== undefined) losers.push([first, wins ? (said as R) : own]);
  }
  const more = new Map<R, R[]>();
  for (const [call, loser] of losers) {
    const winner = kept.get(call);
    const finding = duplicate(call, loser, winner);
    findings.add(finding);
    if (winner === undefined || finding.differs !== true) continue;
    const others = more.get(winner) ?? [];
    if (others.every((each) => !saysSame(each, loser))) more.set(winner, [...others, loser]);
  }
  return { kept, more, calls: calls.filter((call) => !gone.has(call)) };
}

function saysSame(one: Result, other: Result): boolean {
  return JSON.stringify(one.content) === JSON.stringify(other.content);
}
