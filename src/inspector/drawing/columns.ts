import { type Box, anyState, withInner } from './boxes.ts';

/** Columns of boxes, from where the machine begins to where it gets. */
export function columnsOf(boxes: readonly Box[]): readonly (readonly Box[])[] {
  const rank = ranksOf(boxes);
  const columns: Box[][] = [];
  for (const box of boxes) {
    const column = rank.get(box.id) ?? 0;
    (columns[column] ??= []).push(box);
  }
  return columns.filter((column) => column !== undefined);
}

/**
 * The longest way to each box that does not lead back: forwards is to the right, returns go to the left. What holds in any state begins
 * nothing; it only gives a place to what is reached in no other way.
 */
function ranksOf(boxes: readonly Box[]): ReadonlyMap<string, number> {
  const initial = boxes.find(({ isInitial }) => isInitial)?.id;
  const targets = targetsOf(boxes);
  const reachedFromAny = targets.get(anyState) ?? [];
  const forward = new Map<string, string[]>();
  const visited = new Map<string, 'open' | 'done'>();
  const order: string[] = [];
  const visit = (id: string): void => {
    if (visited.has(id)) return;
    visited.set(id, 'open');
    const onwards = (targets.get(id) ?? []).filter((target) => target !== initial && visited.get(target) !== 'open');
    for (const target of onwards) visit(target);
    forward.set(id, onwards);
    visited.set(id, 'done');
    order.unshift(id);
  };
  if (initial !== undefined) visit(initial);
  for (const id of reachedFromAny) visit(id);
  for (const { id } of boxes) visit(id);

  const rank = new Map<string, number>();
  const raise = (id: string, least: number): void => void rank.set(id, Math.max(rank.get(id) ?? 0, least));
  for (const id of reachedFromAny) raise(id, id === initial ? 0 : 1);
  for (const id of order) {
    raise(id, 0);
    if (id !== anyState) for (const target of forward.get(id) ?? []) raise(target, (rank.get(id) ?? 0) + 1);
  }
  return rank;
}

/** Finds where one gets from each outermost box, in the order of its transitions. */
function targetsOf(boxes: readonly Box[]): ReadonlyMap<string, readonly string[]> {
  const outermost = new Map(boxes.flatMap((box) => withInner(box).map(({ id }) => [id, box.id] as const)));
  return new Map(
    boxes.map((box) => {
      const targets = withInner(box).flatMap(({ rows }) =>
        rows.flatMap(({ transition: { to } }) => (to === undefined ? [] : (outermost.get(to) ?? []))),
      );
      return [box.id, [...new Set(targets)].filter((id) => id !== box.id)] as const;
    }),
  );
}
