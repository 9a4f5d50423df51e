import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { right } from './live.ts';

/** The keys of the rows of a list that are chosen. */
export type Picked = Signal<ReadonlySet<string>>;

export const noPicked = (): Picked => signal<ReadonlySet<string>>(new Set());

/** Forgets what was chosen when its list is left. */
export function useForgotten(picked: Picked): void {
  useEffect(
    () => () => {
      picked.value = new Set();
    },
    [picked],
  );
}

/** A box that chooses a row; none for who may give no orders. */
export function Pick({
  picked,
  of: key,
  name,
}: {
  readonly picked: Picked;
  readonly of: string;
  readonly name: string;
}) {
  if (right.value !== 'all') return null;
  return (
    <input
      type="checkbox"
      class="pick"
      aria-label={`Choose ${name}`}
      checked={picked.value.has(key)}
      onChange={({ currentTarget: { checked } }) => {
        const next = new Set(picked.value);
        if (checked) next.add(key);
        else next.delete(key);
        picked.value = next;
      }}
    />
  );
}
