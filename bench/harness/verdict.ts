import type { Figure } from './rounds.ts';
import type { FigureName, Suite } from './suite.ts';

/** What became of a target. */
export interface Verdict {
  readonly says: string;
  /** Undefined when a figure it needs was not measured. */
  readonly value: number | undefined;
  readonly limit: string;
  /** Undefined when it was not measured. */
  readonly met: boolean | undefined;
}

/** Judges each target. */
export function judge({ targets }: Suite, figures: readonly Figure[]): Verdict[] {
  return targets.map((target) => {
    const { by = 'min' } = target;
    const of = find(figures, target.of)?.[by];
    const over = target.over === undefined ? 1 : find(figures, target.over)?.[by];
    const value = of === undefined || over === undefined ? undefined : of / over;
    const atMost = 'atMost' in target;
    const bound = atMost ? target.atMost : target.atLeast;
    const met = value === undefined ? undefined : atMost ? value <= bound : value >= bound;
    return { says: target.says, value, limit: `${atMost ? '≤' : '≥'} ${bound}`, met };
  });
}

/** How many times a figure is that of the baseline, by the minima; undefined where there is none. */
export function ratioOf(suite: Suite, figures: readonly Figure[], figure: Figure): number | undefined {
  const base = find(figures, { ...figure, subject: suite.baseline });
  return base === undefined || base.min === 0 ? undefined : figure.min / base.min;
}

/** The figure of this name. */
export function find(figures: readonly Figure[], name: FigureName): Figure | undefined {
  return figures.find(
    (figure) => figure.subject === name.subject && figure.case === name.case && figure.metric === name.metric,
  );
}
