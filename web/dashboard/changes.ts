import { lists, type Snapshot } from './snapshot.ts';

type ListName = (typeof lists)[number];
type Row = { readonly key: string };

/** Differences in a list: rows that are new or other than before, and keys of those that are gone. */
export interface ListChange {
  readonly put: readonly Row[];
  readonly gone: readonly string[];
}

/** Differences between two snapshots. */
export interface Change {
  readonly at: number;
  readonly head?: Omit<Snapshot, 'at' | ListName> | undefined;
  readonly lists: Readonly<Partial<Record<ListName, ListChange>>>;
}

/** Message to a page: how things are, what has changed, or why nothing can be told. */
export type Frame =
  | { readonly type: 'all'; readonly right: 'all' | 'read'; readonly snapshot: Snapshot }
  | { readonly type: 'change'; readonly change: Change }
  | { readonly type: 'problem'; readonly at: number; readonly message: string };

/** Returns the news for a page that has `before`; undefined when nothing it shows has changed. */
export function changeOf(before: Snapshot, after: Snapshot): Change | undefined {
  const changed = lists.flatMap((name) => {
    const change = listChange(before[name], after[name]);
    return change === undefined ? [] : [[name, change] as const];
  });
  const head = headOf(after);
  const sameHead = isSame(headOf(before), head);
  if (changed.length === 0 && sameHead) return undefined;
  return { at: after.at, ...(!sameHead && { head }), lists: Object.fromEntries(changed) };
}

function headOf({ title, database, spanMs, total, letters }: Snapshot): NonNullable<Change['head']> {
  return { title, database, spanMs, total, letters };
}

function listChange(before: readonly Row[], after: readonly Row[]): ListChange | undefined {
  const known = new Map(before.map((row) => [row.key, row]));
  const put = after.filter((row) => {
    const old = known.get(row.key);
    known.delete(row.key);
    return old === undefined || !isSame(old, row);
  });
  const gone = [...known.keys()];
  return put.length + gone.length === 0 ? undefined : { put, gone };
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
