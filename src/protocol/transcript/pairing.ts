import type { Findings } from './findings.ts';

/** A tool call in a history. */
export interface Call {
  readonly id: string;
  readonly tool: string | undefined;
  /** Which message or item it is in. */
  readonly at: number;
}

/** A result in a history. */
export interface Result {
  readonly id: string;
  readonly at: number;
  /** Whether it only stands for a missing one. */
  readonly synthetic: boolean;
  /** What it says, to compare duplicates. */
  readonly content: unknown;
}

/** Calls and results in the order in which they stand. */
export type Entry<C extends Call, R extends Result> = { readonly call: C } | { readonly result: R };

/** One call while its results are looked for. */
interface Pairing<C, R> {
  readonly call: C;
  readonly results: R[];
}

/**
 * Gives each call the one result that is kept; what is dropped is told to `findings`. Ids may repeat in later turns, so a result
 * belongs to the nearest call before it that has none; only one that has no call before it at all belongs to the next one.
 * A real result wins over a synthetic one wherever it stands, else the first one wins.
 */
export function pair<C extends Call, R extends Result>(
  entries: readonly Entry<C, R>[],
  findings: Findings,
): ReadonlyMap<C, R> {
  const seen = new Map<string, Pairing<C, R>[]>();
  const early = new Map<string, R[]>();
  for (const entry of entries) {
    if ('call' in entry) {
      const { call } = entry;
      const pairing = { call, results: early.get(call.id) ?? [] };
      early.delete(call.id);
      const before = seen.get(call.id);
      if (before === undefined) seen.set(call.id, [pairing]);
      else before.push(pairing);
      continue;
    }
    const { result } = entry;
    const before = seen.get(result.id);
    if (before === undefined) early.set(result.id, [...(early.get(result.id) ?? []), result]);
    else (before.findLast(({ results }) => results.length === 0) ?? before.at(-1))?.results.push(result);
  }
  for (const { id, at } of [...early.values()].flat()) findings.add({ rule: 'orphan', at, callId: id });

  const kept = new Map<C, R>();
  for (const { call, results } of [...seen.values()].flat()) {
    const winner = results.find(({ synthetic }) => !synthetic) ?? results[0];
    if (winner !== undefined) kept.set(call, winner);
    for (const result of results) if (result !== winner) findings.add(duplicate(call, result, winner));
  }
  return kept;
}

/** The finding of a result that loses against another one of its call. */
export function duplicate(call: Omit<Call, 'at'>, loser: Result, winner: Result | undefined) {
  const differs = !loser.synthetic && JSON.stringify(loser.content) !== JSON.stringify(winner?.content);
  return { rule: 'duplicate', at: loser.at, callId: call.id, tool: call.tool, ...(differs && { differs }) } as const;
}
