import { settleGroup } from './pairing.ts';
import type { Findings } from './findings.ts';
import { duplicate } from './calls.ts';
import type { Chains } from './sessionChains.ts';
import type { LogCall, LogNode, LogResult, SessionScan } from './sessionScan.ts';

/**
 * Fate of the calls and results of a log.
 * Gives each call the result that is kept: the first real one, else the first.
 */
export function pairLog({ calls, results }: SessionScan, chains: Chains, findings: Findings) {
  const keyOf = ({ id, node }: LogCall): string => `${chains.endOfTurn(node)} ${id}`;
  const groups = new Map<string, { calls: LogCall[]; results: LogResult[] }>();
  for (const call of calls) {
    const group = groups.get(keyOf(call));
    if (group === undefined) groups.set(keyOf(call), { calls: [call], results: [] });
    else group.calls.push(call);
  }
  const unclaimed: LogResult[] = [];
  for (const result of results) {
    const call = chains.callOf(result);
    if (call === undefined) unclaimed.push(result);
    else groups.get(keyOf(call))?.results.push({ ...result, owner: call });
  }

  const answered = new Map<LogCall, LogResult>();
  const more = new Map<LogResult, readonly LogResult[]>();
  const staying: (readonly LogCall[])[] = [];
  for (const { calls: together, results: given } of groups.values()) {
    // The line that a result hangs from tells its call, unless two hang from one.
    const isTold = new Set(given.map(({ owner }) => owner)).size === given.length;
    const own = isTold ? given : given.map((result) => ({ ...result, owner: undefined }));
    const settled = settleGroup<LogCall, LogResult>({ calls: together, results: own }, findings);
    for (const [call, result] of settled.kept) answered.set(call, result);
    for (const [result, others] of settled.more) more.set(result, others);
    staying.push(settled.calls);
  }
  const standing = new Set(staying.flat());
  const callsAt = new Map<LogNode | undefined, LogCall[]>();
  for (const call of standing) callsAt.set(call.node, [...(callsAt.get(call.node) ?? []), call]);
  for (const result of unclaimed) {
    const call = callsAt
      .get(chains.parentOf(result.node))
      ?.find((each) => (each.id === '' || result.id === '') && (answered.get(each)?.synthetic ?? !result.synthetic));
    if (call === undefined) {
      findings.add({ rule: 'orphan', at: result.at, callId: result.id });
      continue;
    }
    const loser = answered.get(call);
    answered.set(call, result);
    if (loser !== undefined) findings.add(duplicate(call, loser, result));
  }
  const keptPlaces = new Set([...answered.values()].map(placeOf));
  return {
    answered,
    /** Other results that were really given to the call of a result. */
    more,
    /** Results that no call keeps: they have none, or lost against another one of theirs. */
    dropped: results.filter((result) => !keptPlaces.has(placeOf(result))),
    /** Calls that are told twice. */
    gone: new Set(calls.filter((call) => !standing.has(call))),
    /** The calls that stay, by those of one id in one answer. */
    groups: staying,
  };
}

const placeOf = ({ at, block }: LogResult): string => `${at} ${block}`;
