/** A stretch between two times at which something changed, and where it is drawn, in % of the width. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly width: number;
  /** Nothing changed for so long that it is drawn shorter than it was. */
  readonly isFolded: boolean;
}

/** Scale that times are drawn on. */
export interface TimelineScale {
  /** In % of the width; times outside are drawn at the borders. */
  x(at: number): number;
  readonly folds: readonly { readonly left: number; readonly width: number }[];
  readonly ticks: readonly { readonly at: number; readonly left: number }[];
}

/** The most that one stretch may take of the whole. */
const mostShare = 0.2;
/** Labels that are nearer than this, in %, would run into each other. */
const tickGap = 9;

/**
 * Time as it is drawn: stretches in which nothing changed are folded. It depends on the times of changes alone, not on now, so that nothing
 * moves while nothing happens.
 * @param times - at which something changed or will, in any order.
 */
export function scaleOf(times: readonly number[]): TimelineScale {
  const sorted = [...new Set(times)].sort((one, other) => one - other);
  const stretches = stretchesOf(sorted);
  return {
    x(at) {
      const [first] = stretches;
      if (first === undefined || at <= first.from) return 0;
      const stretch = stretches.find(({ to }) => at <= to);
      if (stretch === undefined) return 100;
      const { from, to, left, width } = stretch;
      return left + ((at - from) / (to - from)) * width;
    },
    folds: stretches.filter(({ isFolded }) => isFolded).map(foldOf),
    ticks: ticksOf(stretches),
  };
}

function stretchesOf(times: readonly number[]): readonly Stretch[] {
  const lengths = times.slice(1).map((to, index) => to - (times[index] ?? to));
  let weights = lengths;
  // A stretch is not long beside the others if there are only one or two.
  for (let round = 0; round < 8 && lengths.length > 2; round++) {
    const most = weights.reduce((sum, each) => sum + each, 0) * Math.max(mostShare, 1.5 / lengths.length);
    weights = lengths.map((length) => Math.min(length, most));
  }
  const total = weights.reduce((sum, each) => sum + each, 0) || 1;
  const stretches: Stretch[] = [];
  let left = 0;
  lengths.forEach((length, index) => {
    const from = times[index] ?? 0;
    const weight = weights[index] ?? 0;
    const width = (weight / total) * 100;
    stretches.push({ from, to: from + length, left, width, isFolded: length > weight * 1.5 && width > 2 });
    left += width;
  });
  return stretches;
}

/** The mark stands in the middle of the stretch that was folded. */
function foldOf({ left, width }: Stretch): { readonly left: number; readonly width: number } {
  const shown = Math.min(4.5, width * 0.6);
  return { left: left + (width - shown) / 2, width: shown };
}

function ticksOf(stretches: readonly Stretch[]): TimelineScale['ticks'] {
  const ticks: { at: number; left: number }[] = [];
  for (const { from: at, left } of stretches) {
    const last = ticks.at(-1);
    if (left <= 94 && (last === undefined || left - last.left >= tickGap)) ticks.push({ at, left });
  }
  return ticks;
}
