import type { Curves, JudgedCurve } from './curve.mjs';

/** A soak that is over. */
export interface SoakReport {
  readonly minutes: number;
  readonly seed: number;
  /** Part of the time after which curves are judged. */
  readonly warmPart: number;
  /** Ends in the gateway, by what and how. */
  readonly done: Readonly<Record<string, number>>;
  /** Doings of the programs beside it. */
  readonly asked: Readonly<Record<string, number>>;
  /** Times that a doing was left out, as two of it were under way. */
  readonly heldBack: number;
  readonly judged: readonly JudgedCurve[];
  readonly curves: readonly Curves[];
  readonly violations: readonly string[];
}

export function soak(options: {
  readonly minutes: number;
  readonly seed: number;
  /** Planted in the gateway. @defaultValue nothing */
  readonly leak?: readonly ('heap' | 'descriptor' | 'timer' | 'file')[] | undefined;
  /** Programs beside the gateway. @defaultValue all */
  readonly only?: readonly string[];
  readonly everyMs?: number;
  readonly progress?: (minutes: number) => void;
}): Promise<SoakReport>;
