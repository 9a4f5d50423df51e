import type { Shape, SpinningShape } from '../shape.ts';
import { healthyFailures } from './healthyFailures.ts';
import { healthyNumbers } from './healthyNumbers.ts';
import { healthyWork } from './healthyWork.ts';
import { spinningPrograms } from './spinningPrograms.ts';
import { spinningServices } from './spinningServices.ts';
import { spinningTools } from './spinningTools.ts';

/** Healthy sessions of a third author, who had seen neither the rule nor the other sets. */
export const healthyThird: readonly Shape[] = [...healthyFailures, ...healthyNumbers, ...healthyWork];

/** Spinning sessions of a third author, who had seen neither the rule nor the other sets. */
export const spinningThird: readonly SpinningShape[] = [...spinningPrograms, ...spinningServices, ...spinningTools];
