import { useComputed } from '@preact/signals';
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useSteady } from './steady.ts';
import { type ColumnProps, Table } from './table.tsx';
import { count } from './words.ts';

/** Rows that are drawn at first, and more each time the reader asks: a browser is slow with tens of thousands. */
const pageSize = 200;

interface KeyedListProps {
  /** Content of the list. */
  readonly label: string;
  readonly columns: readonly ColumnProps[];
  /** The keys of the rows in their order. It may read signals: it is asked again when one of them changes. */
  readonly keys: () => readonly string[];
  /** Draws the row of a key; it alone reads the row, and so is drawn again alone. */
  readonly row: FunctionComponent<{ readonly of: string }>;
  /** Shown where there are no rows. */
  readonly children: ComponentChildren;
}

/** A table of rows that change by themselves. It is drawn again only when rows come, go or change places. */
export function KeyedList({ label, columns, keys, row: Row, children }: KeyedListProps) {
  const [most, setMost] = useState(pageSize);
  const ordered = useKeys(keys);
  const { keys: shown, on } = useSteady(ordered);
  const more = shown.length - most;
  return (
    <section class="box" aria-label={label} {...on}>
      {shown.length === 0 ? (
        children
      ) : (
        <Table columns={columns}>
          {shown.slice(0, most).map((key) => (
            <Row key={key} of={key} />
          ))}
        </Table>
      )}
      {more > 0 && (
        <p class="in">
          <button type="button" class="btn" onClick={() => setMost(most + pageSize)}>
            Show {count(Math.min(pageSize, more))} of {count(more)} more
          </button>
        </p>
      )}
    </section>
  );
}

/** The same array as long as nothing in it has changed. */
function useKeys(keys: () => readonly string[]): readonly string[] {
  const asked = useRef(keys);
  asked.current = keys;
  const last = useRef<readonly string[]>([]);
  return useComputed(() => {
    const next = asked.current();
    const { current } = last;
    if (next.length !== current.length || next.some((key, index) => key !== current[index])) last.current = next;
    return last.current;
  }).value;
}
