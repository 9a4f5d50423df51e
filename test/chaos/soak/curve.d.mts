/** A moment of a program, or of its files: its wall time in ms, and some of the quantities. */
export interface Sample {
  readonly at: number;
  readonly [quantity: string]: number;
}

export interface Curves {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** A quantity of a program, and whether it rises. */
export interface JudgedCurve {
  readonly name: string;
  readonly quantity: string;
  readonly level: number;
  readonly rise: number;
  readonly allowed: number;
  readonly rises: boolean;
  readonly text: string;
}

export function judgeCurves(curves: readonly Curves[], warmPart: number): JudgedCurve[];
export function slopeOf(points: readonly (readonly [at: number, value: number])[]): number;
