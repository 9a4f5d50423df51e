import type { Findings } from './findings.ts';
import { type Call, duplicate, isSame, type Result } from './calls.ts';

/** Calls that stand together under one id, and the results of that id that belong to them. */
export interface CallGroup<C extends Call, R extends Result> {
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
