import type { Shape, SpinningShape } from '../shape.ts';
import { healthyErrors } from './healthyErrors.ts';
import { healthyReads } from './healthyReads.ts';
import { healthyValues } from './healthyValues.ts';
import { healthyWaiting } from './healthyWaiting.ts';
import { spinningRounds } from './spinningRounds.ts';
import { spinningScreens } from './spinningScreens.ts';
import { spinningStamps } from './spinningStamps.ts';
import { spinningTraces } from './spinningTraces.ts';

/** Healthy sessions of a second author, who had not seen the rule. */
export const healthySecond: readonly Shape[] = [...healthyErrors, ...healthyReads, ...healthyValues, ...healthyWaiting];

/** Spinning sessions of a second author, who had not seen the rule. */
export const spinningSecond: readonly SpinningShape[] = [
  ...spinningStamps,
  ...spinningTraces,
  ...spinningScreens,
  ...spinningRounds,
];
