import { useComputed } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useSteady } from './steady.ts';
import type { Rows } from './live.ts';
import { count } from './words.ts';

/** A column of a table, and the cell that a row has in it. */
export interface Column<R> {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Classes of its cells: with `lb` they are named on a narrow page, as numbers are. @defaultValue none */
  readonly look?: string | ((row: R) => string);
  /** Name of its cells on a narrow page. @defaultValue the title */
  readonly label?: string;
  readonly cell: (row: R) => ComponentChildren;
}

type RowAttributes = JSX.IntrinsicElements['tr'] & { readonly 'data-row'?: boolean };

interface TableProps<R> {
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string | number;
  /** Attributes of a row. @defaultValue one that keys go to */
  readonly attributes?: ((row: R) => RowAttributes) | undefined;
}

/** A table whose rows stack on a narrow page, each figure with the name of its column. */
export function Table<R>({ columns, rows, keyOf, attributes }: TableProps<R>) {
  return (
    <Framed columns={columns}>
      {rows.map((row) => (
        <Row key={keyOf(row)} columns={columns} of={row} attributes={attributes?.(row)} />
      ))}
    </Framed>
  );
}

interface FramedProps<R> extends Pick<TableProps<R>, 'columns'> {
  readonly children: ComponentChildren;
}

function Framed<R>({ columns, children }: FramedProps<R>) {
  return (
    <div class="tw">
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumber = false }) => (
              <th key={title} scope="col" class={isNumber ? 'num' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps<R> extends Pick<TableProps<R>, 'columns'> {
  readonly of: R;
  readonly attributes?: RowAttributes | undefined;
}

/** A row; also one that stands among those of another table. */
function Row<R>({ columns, of, attributes = { 'data-row': true } }: RowProps<R>) {
  return (
    <tr {...attributes}>
      {columns.map(({ title, isNumber = false, look = '', label = title, cell }) => (
        <td key={title} class={`${isNumber ? 'num' : ''} ${typeof look === 'string' ? look : look(of)}`} data-l={label}>
          {cell(of)}
        </td>
      ))}
    </tr>
  );
}

/** Rows that are drawn at first, and more each time the reader asks: a browser is slow with tens of thousands. */
const pageSize = 200;

interface KeyedListProps<R extends { readonly key: string }> extends Pick<TableProps<R>, 'columns'> {
  /** Content of the list. */
  readonly label: string;
  readonly rows: Rows<R>;
  /** The keys of the rows in their order. It may read signals: it is asked again when one of them changes. */
  readonly keys: () => readonly string[];
  /** Shown where there are no rows. */
  readonly children: ComponentChildren;
}

/** A table of rows that change by themselves. It is drawn again only when rows come, go or change places; a row that changes is drawn again alone. */
export function KeyedList<R extends { readonly key: string }>(props: KeyedListProps<R>) {
  const { label, columns, rows, keys, children } = props;
  const [most, setMost] = useState(pageSize);
  const { keys: shown, on } = useSteady(useKeys(keys));
  const more = shown.length - most;
  return (
    <section class="box" aria-label={label} {...on}>
      {shown.length === 0 ? (
        children
      ) : (
        <Framed columns={columns}>
          {shown.slice(0, most).map((key) => (
            <KeyedRow key={key} columns={columns} rows={rows} of={key} />
          ))}
        </Framed>
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

interface KeyedRowProps<R extends { readonly key: string }> extends Pick<KeyedListProps<R>, 'columns' | 'rows'> {
  readonly of: string;
}

function KeyedRow<R extends { readonly key: string }>({ columns, rows, of: key }: KeyedRowProps<R>) {
  const row = rows.row(key);
  return row === undefined ? null : <Row columns={columns} of={row} />;
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
