import { useRef } from 'preact/hooks';

interface Keyed {
  readonly key: string;
}

/**
 * Keeps the order of rows while the pointer or the focus is on them: nobody clicks on a row that has just moved there. Rows that come stand
 * at the end until then.
 * @param sorted - the rows as they should stand.
 */
export function useSteady<R extends Keyed>(sorted: readonly R[]) {
  const order = useRef<readonly string[]>([]);
  const isOn = useRef(false);
  const hold = (): void => {
    isOn.current = true;
  };
  const release = (): void => {
    isOn.current = false;
  };
  const places = new Map(order.current.map((key, index) => [key, index]));
  const place = ({ key }: R): number => places.get(key) ?? places.size;
  const rows = isOn.current ? [...sorted].sort((one, other) => place(one) - place(other)) : sorted;
  order.current = rows.map(({ key }) => key);
  return { rows, on: { onPointerEnter: hold, onPointerLeave: release, onFocusIn: hold, onFocusOut: release } };
}
