import type { HistoryRows, MessageRow, SenderEntry } from './journalEntry.ts';
import { isEnded, type SessionHistory } from './sessionHistory.ts';
import type { Refute } from './violation.ts';

/** What senders were told is so, and what one of them sent after the other was acknowledged comes after it. */
export function checkSenders(history: SessionHistory, { messages }: HistoryRows, refute: Refute): void {
  if (messages === undefined) return;
  const { session, senders } = history;
  const rows = new Map(history.messages.map((row) => [row.key, row]));
  for (const entry of senders) {
    const { type, key } = entry;
    const row = rows.get(key);
    if (type === 'accepted' && row === undefined) {
      refute('nothing_lost', session, `${key} was acknowledged, and is nowhere`, [entry]);
    }
    if (type === 'reply' && (row === undefined || !isEnded(row.state))) {
      refute('nothing_lost', session, `the sender of ${key} was told of an end that it does not have`, [entry, row]);
    }
  }
  for (const own of bySender(senders)) checkOrder(own, rows, session, refute);
}

function bySender(entries: readonly SenderEntry[]): Iterable<readonly SenderEntry[]> {
  const found = new Map<string, SenderEntry[]>();
  for (const entry of entries) {
    const sender = entry.sender ?? entry.node;
    const known = found.get(sender);
    if (known === undefined) found.set(sender, [entry]);
    else known.push(entry);
  }
  return found.values();
}

function checkOrder(
  entries: readonly SenderEntry[],
  rows: ReadonlyMap<string | null, MessageRow>,
  session: string,
  refute: Refute,
): void {
  let last: { readonly row: MessageRow; readonly entry: SenderEntry } | undefined;
  /** For each key the last message that was acknowledged before it was sent for the first time. */
  const behind = new Map<string, typeof last>();
  for (const entry of entries) {
    const { type, key } = entry;
    const row = rows.get(key);
    if (type === 'send' && !behind.has(key)) behind.set(key, last);
    if (type !== 'accepted' || row === undefined) continue;
    const before = behind.get(key);
    if (before !== undefined && before.row.number > row.number) {
      const says = `${key} was sent after ${before.entry.key} was acknowledged, and stands before it`;
      refute('in_order', session, says, [before.entry, before.row, row]);
    }
    if (last === undefined || last.row.number < row.number) last = { row, entry };
  }
}
