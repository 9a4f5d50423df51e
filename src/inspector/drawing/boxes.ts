import type { Chart, ChartState, ChartTransition } from '../chart.ts';

/** A transition as a line of the box it leaves; y is absolute. */
export interface Row {
  /** Its place among the transitions of the chart. */
  readonly edge: number;
  readonly transition: ChartTransition;
  y: number;
}

/** A state as a box; states within it are stacked in it. All sizes in px of the drawing. */
export interface Box {
  readonly id: string;
  readonly title: string;
  readonly type: ChartState['type'] | 'any';
  readonly isInitial: boolean;
  /** Deeds at its borders and while it lasts. */
  readonly deeds: readonly string[];
  readonly rows: readonly Row[];
  readonly inner: readonly Box[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export const titleHeight = 28;
export const lineHeight = 17;
const padding = 10;
const innerGap = 10;
/** Widths in the monospaced text of a row, 11 px, and in the condition in it, 10 px. */
const charWidth = 6.7;
const guardCharWidth = 6.1;
/** Width in the bold 13 px text of a title. */
const titleCharWidth = 8;

/** The id of the box for what the machine does whatever its state is. */
export const anyState = '*';

/** The boxes of the outermost states, the one for any state last; sized, not placed. */
export function boxesOf(chart: Chart): readonly Box[] {
  const rowsOf = (from: string): Row[] =>
    chart.transitions.flatMap((transition, edge) => (transition.from === from ? [{ edge, transition, y: 0 }] : []));
  const within = (parent: string): Box[] => {
    const initial = chart.states.find(({ id }) => id === parent)?.initial;
    return chart.states
      .filter((state) => state.parent === parent)
      .map((state) =>
        sized({
          id: state.id,
          title: state.id.slice(state.id.lastIndexOf('.') + 1),
          type: state.type,
          isInitial: state.id === initial,
          deeds: deedsOf(state),
          rows: rowsOf(state.id),
          inner: within(state.id),
        }),
      );
  };
  const outermost = within('');
  const root = chart.states.find(({ id }) => id === '');
  const rows = rowsOf('');
  const deeds = root === undefined ? [] : deedsOf(root);
  if (rows.length === 0 && deeds.length === 0) return outermost;
  const any = { id: anyState, title: 'in any state', type: 'any', isInitial: false, deeds, rows, inner: [] } as const;
  return [...outermost, sized(any)];
}

/** Puts a box, and all in it, where its left upper corner is to be. */
export function place(box: Box, x: number, y: number, width: number): void {
  Object.assign(box, { x, y, width });
  let top = y + titleHeight + box.deeds.length * lineHeight;
  for (const row of box.rows) {
    row.y = top + lineHeight / 2;
    top += lineHeight;
  }
  for (const inner of box.inner) {
    top += innerGap;
    place(inner, x + padding, top, width - 2 * padding);
    top += inner.height;
  }
}

/** A box and all in it. */
export function withInner(box: Box): readonly Box[] {
  return [box, ...box.inner.flatMap(withInner)];
}

/** The words of a row: the event, and the condition in which it counts. */
export function rowText({ on, guard, to, from }: ChartTransition): { readonly event: string; readonly guard: string } {
  const event = `${on === '' ? 'always' : on}${to === from ? ' ↺' : ''}`;
  return { event, guard: guard === undefined ? '' : `[${guard}]` };
}

function sized(box: Omit<Box, 'x' | 'y' | 'width' | 'height'>): Box {
  const lines = [
    ...box.deeds.map((deed) => deed.length * charWidth),
    ...box.rows.map(({ transition }) => {
      const { event, guard } = rowText(transition);
      return (event.length + 1) * charWidth + guard.length * guardCharWidth;
    }),
  ];
  const width = Math.max(
    96,
    (box.title.length + 3) * titleCharWidth + 2 * padding,
    ...lines.map((line) => line + 2 * padding),
    ...box.inner.map((inner) => inner.width + 2 * padding),
  );
  const inner = box.inner.reduce((sum, { height }) => sum + height + innerGap, 0);
  const body = lines.length * lineHeight + inner;
  return { ...box, x: 0, y: 0, width: Math.ceil(width), height: titleHeight + body + (body > 0 ? 8 : 0) };
}

function deedsOf({ entry, exit, invokes }: ChartState): readonly string[] {
  return [
    ...entry.map((action) => `entry / ${action}`),
    ...invokes.map((slot) => `invokes ${slot}`),
    ...exit.map((action) => `exit / ${action}`),
  ];
}
