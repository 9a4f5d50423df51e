import type { ComponentChildren } from 'preact';

export interface ColumnProps {
  readonly title: string;
  readonly isNumber?: boolean;
}

/** A table whose rows stack on a narrow page, each figure with the name of its column. */
export function Table({
  columns,
  children,
}: {
  readonly columns: readonly ColumnProps[];
  readonly children: ComponentChildren;
}) {
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
