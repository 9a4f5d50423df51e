import { useRef } from 'preact/hooks';

/**
 * Keeps the order of rows while the pointer or the focus is on them: nobody clicks on a row that has just moved there. Rows that come stand
 * at the end until then.
 * @param sorted - the keys of the rows as they should stand.
 */
export function useSteady(sorted: readonly string[]) {
  const order = useRef<readonly string[]>([]);
  const held = useRef({ byPointer: false, byFocus: false });
  const { current } = held;
  const on = {
    onPointerEnter: () => void (current.byPointer = true),
    onPointerLeave: () => void (current.byPointer = false),
    onFocusIn: () => void (current.byFocus = true),
    onFocusOut: () => void (current.byFocus = false),
  };
  const places = new Map(order.current.map((key, index) => [key, index]));
  const place = (key: string): number => places.get(key) ?? places.size;
  const isHeld = current.byPointer || current.byFocus;
  const keys = isHeld ? [...sorted].sort((one, other) => place(one) - place(other)) : sorted;
  order.current = keys;
  return { keys, on };
}
