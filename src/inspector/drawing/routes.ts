import { type Box, titleHeight, withInner } from './boxes.ts';

/** Boxes in columns, with where each column begins; channel n is left of column n. */
export interface Grid {
  readonly columns: readonly (readonly Box[])[];
}

export interface Route {
  readonly edge: number;
  /** Corner points, from the row to the border of the target. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

const trackGap = 8;
const channelPadding = 13;

type Side = 'left' | 'right';

interface Plan {
  readonly edge: number;
  readonly box: Box;
  readonly target: Box;
  readonly exit: Side;
  readonly entry: Side;
  /** The channel it leaves into, and the one it arrives through; the same for neighbours. */
  readonly out: number;
  readonly into: number;
}

/** Tracks of one channel or of the lanes above or below: those to the same place are one. */
class Tracks {
  readonly #keys: string[] = [];

  take(key: string): number {
    const at = this.#keys.indexOf(key);
    return at >= 0 ? at : this.#keys.push(key) - 1;
  }

  get size(): number {
    return this.#keys.length;
  }
}

/** Decides, before anything has its place, which arrow goes through which channel. */
export class Router {
  readonly #plans: Plan[] = [];
  readonly #channels: readonly Tracks[];
  readonly #above = new Tracks();
  readonly #below = new Tracks();

  constructor({ columns }: Grid) {
    this.#channels = Array.from({ length: columns.length + 1 }, () => new Tracks());
    const columnOf = new Map<string, number>();
    const boxes = columns.flatMap((column, at) =>
      column.flatMap((box) => withInner(box).map((each) => (columnOf.set(each.id, at), each))),
    );
    const byId = new Map(boxes.map((box) => [box.id, box] as const));
    for (const box of boxes) {
      for (const row of box.rows) {
        const { to, from } = row.transition;
        const target = to === undefined || to === from ? undefined : byId.get(to);
        if (target === undefined) continue;
        const here = columnOf.get(box.id) ?? 0;
        const there = columnOf.get(target.id) ?? 0;
        const plan = planOf(row.edge, box, target, here, there);
        this.#plans.push(plan);
        this.#reserve(plan);
      }
    }
  }

  /** Widths of the channels, in px. */
  get channelWidths(): readonly number[] {
    return this.#channels.map(({ size }) => (size === 0 ? channelPadding : 2 * channelPadding + (size - 1) * trackGap));
  }

  /** Height of the lanes above the boxes, and of those below, in px. */
  get laneHeights(): { readonly above: number; readonly below: number } {
    const heightOf = ({ size }: Tracks): number => (size === 0 ? 0 : size * trackGap + 8);
    return { above: heightOf(this.#above), below: heightOf(this.#below) };
  }

  /**
   * @param channelLefts - where each channel begins.
   * @param top - of the boxes; the lanes are above.
   * @param bottom - of the boxes.
   */
  routes(channelLefts: readonly number[], top: number, bottom: number): readonly Route[] {
    const trackX = (channel: number, key: string): number =>
      (channelLefts[channel] ?? 0) + channelPadding + (this.#channels[channel]?.take(key) ?? 0) * trackGap;
    return this.#plans.map((plan) => {
      const { edge, box, target, exit, entry, out, into } = plan;
      const row = box.rows.find((each) => each.edge === edge);
      const fromY = row?.y ?? box.y;
      const fromX = exit === 'right' ? box.x + box.width : box.x;
      const toX = entry === 'right' ? target.x + target.width : target.x;
      const toY = target.y + titleHeight / 2;
      const arrival = trackX(into, arrivalKey(plan));
      if (out === into)
        return {
          edge,
          points: [
            [fromX, fromY],
            [arrival, fromY],
            [arrival, toY],
            [toX, toY],
          ],
        };
      const leaving = trackX(out, laneKey(plan));
      const laneY = isForward(plan)
        ? top - 8 - this.#above.take(target.id) * trackGap
        : bottom + 8 + this.#below.take(target.id) * trackGap;
      return {
        edge,
        points: [
          [fromX, fromY],
          [leaving, fromY],
          [leaving, laneY],
          [arrival, laneY],
          [arrival, toY],
          [toX, toY],
        ],
      };
    });
  }

  #reserve(plan: Plan): void {
    this.#channels[plan.into]?.take(arrivalKey(plan));
    if (plan.out === plan.into) return;
    this.#channels[plan.out]?.take(laneKey(plan));
    (isForward(plan) ? this.#above : this.#below).take(plan.target.id);
  }
}

function planOf(edge: number, box: Box, target: Box, here: number, there: number): Plan {
  const exit = there >= here ? 'right' : 'left';
  const entry = there > here ? 'left' : 'right';
  return {
    edge,
    box,
    target,
    exit,
    entry,
    out: exit === 'right' ? here + 1 : here,
    into: entry === 'left' ? there : there + 1,
  };
}

const isForward = ({ exit }: Plan): boolean => exit === 'right';
const arrivalKey = ({ target, entry }: Plan): string => `${entry} ${target.id}`;
const laneKey = ({ target }: Plan): string => `lane ${target.id}`;
