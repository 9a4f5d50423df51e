import type { CallEntry, CallRow, ClaimEntry, HistoryRows } from './journalEntry.ts';
import type { SessionHistory } from './sessionHistory.ts';
import type { Refute } from './violation.ts';

interface Call {
  dispatched: CallEntry | undefined;
  /** The first result that was confirmed. */
  settled: CallEntry | undefined;
  /** The claim that found it without one, and answers it. */
  lost: ClaimEntry | undefined;
  /** Whether somebody settled it and did not hear whether that was recorded. */
  mayBeSettled: boolean;
}

/** Each call is made under one fence, and has the one result that was recorded for it. */
export function checkCalls(
  { session, incarnations, calls: rows }: SessionHistory,
  { calls: given, isDrained }: HistoryRows,
  refute: Refute,
): void {
  const calls = new Map<string, Call>();
  const of = (id: string): Call => {
    const known = calls.get(id) ?? { dispatched: undefined, settled: undefined, lost: undefined, mayBeSettled: false };
    calls.set(id, known);
    return known;
  };
  for (const { entries, claim } of incarnations) {
    for (const entry of entries) {
      if (entry === claim) for (const id of entry.pending ?? []) found(of(id), id, entry, refute);
      else if ('call' in entry && entry.unheard !== true) written(of(entry.call), entry, refute);
      else if (entry.type === 'settle') of(entry.call).mayBeSettled = true;
    }
  }
  if (given === undefined) return;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const row of rows) checkRow(row, calls.get(row.id), isDrained !== false, refute);
  const lastToken = Math.max(...incarnations.map(({ token }) => token));
  // The oldest calls are forgotten first, when they are over: they have a result, or were another owner's.
  let isOlderThere = false;
  for (const [id, { dispatched, settled, lost, mayBeSettled }] of calls) {
    const row = byId.get(id);
    if (row !== undefined) isOlderThere ||= row.state === 'settled';
    if (row !== undefined || dispatched === undefined) continue;
    const isOver = settled !== undefined || lost !== undefined || mayBeSettled || dispatched.token < lastToken;
    if (isOlderThere || !isOver) refute('one_result', session, `call ${id} was made, and is gone`, [dispatched]);
  }
}

function found(call: Call, id: string, claim: ClaimEntry, refute: Refute): void {
  if (call.settled !== undefined) {
    const says = `call ${id} had its result, and is found without one by the next owner`;
    refute('one_owner', claim.session, says, [call.settled, claim]);
  }
  call.lost = claim;
}

function written(call: Call, entry: CallEntry, refute: Refute): void {
  const { session, call: id, token, type } = entry;
  if (type === 'dispatch') {
    const first = call.dispatched ?? call.lost;
    if (first !== undefined) refute('one_result', session, `call ${id} was made twice`, [first, entry]);
    call.dispatched = entry;
    return;
  }
  if (call.lost !== undefined && call.dispatched !== undefined && token < call.lost.token) {
    refute('one_owner', session, `call ${id} was settled by a node that had lost the session`, [call.lost, entry]);
  }
  // A result that comes late is kept beside the first one, by the same owner.
  if (call.settled !== undefined && call.settled.token !== token && call.settled.result !== entry.result) {
    refute('one_result', session, `call ${id} was settled by two owners`, [call.settled, entry]);
  }
  call.settled ??= entry;
}

function checkRow(row: CallRow, call: Call | undefined, isDrained: boolean, refute: Refute): void {
  const { id, session, state, result } = row;
  const isSettled = state === 'settled' && result !== null;
  if (!isSettled && (isDrained || call?.settled !== undefined)) {
    refute('one_result', session, `call ${id} has no result`, [call?.settled ?? call?.dispatched, row]);
  }
  // One that was found lost was answered with the claim; who learnt its result meanwhile was not the owner any more.
  const first = call?.lost === undefined ? call?.settled : undefined;
  if (isSettled && first?.result !== undefined && first.result !== result) {
    refute('one_result', session, `call ${id} was given another result than the one that is kept`, [first, row]);
  }
}
