import { healthyAgents } from './healthyAgents.ts';
import { healthyBatches } from './healthyBatches.ts';
import { healthyChecks } from './healthyChecks.ts';
import { healthyClocks } from './healthyClocks.ts';
import { healthyCounters } from './healthyCounters.ts';
import { healthyDeclared } from './healthyDeclared.ts';
import { healthyEdits } from './healthyEdits.ts';
import { healthyKeys } from './healthyKeys.ts';
import { healthyPages } from './healthyPages.ts';
import { healthyPolls } from './healthyPolls.ts';
import { healthyRetries } from './healthyRetries.ts';
import { healthyServers } from './healthyServers.ts';
import { healthyWaits } from './healthyWaits.ts';
import type { Shape, SpinningShape } from './shape.ts';
import { spinningAgents } from './spinningAgents.ts';
import { spinningArguments } from './spinningArguments.ts';
import { spinningCycles } from './spinningCycles.ts';
import { spinningFailures } from './spinningFailures.ts';
import { spinningHooks } from './spinningHooks.ts';
import { spinningPairs } from './spinningPairs.ts';
import { spinningReads } from './spinningReads.ts';
import { spinningSuccesses } from './spinningSuccesses.ts';
import { spinningVaried } from './spinningVaried.ts';
import { spinningVolatile } from './spinningVolatile.ts';

export type { Shape, ShapeCall, SpinningShape } from './shape.ts';
export { isCall } from './shape.ts';

/** Healthy sessions by what repeats in them. */
export const healthyForms: Readonly<Record<string, readonly Shape[]>> = {
  polls: healthyPolls,
  'declared polls and repeats': healthyDeclared,
  waits: healthyWaits,
  servers: healthyServers,
  batches: healthyBatches,
  counters: healthyCounters,
  edits: healthyEdits,
  checks: healthyChecks,
  keys: healthyKeys,
  clocks: healthyClocks,
  pages: healthyPages,
  retries: healthyRetries,
  'sub-agents and new beginnings': healthyAgents,
};

/** Spinning sessions by their form. */
export const spinningForms: Readonly<Record<string, readonly SpinningShape[]>> = {
  'the same call, the same error': spinningFailures,
  'the same error with parts that change by themselves': spinningVolatile,
  'the same call in other clothes': spinningArguments,
  'a declared read, the same answer': spinningReads,
  'the same call, the same success': spinningSuccesses,
  'a cycle of two': spinningPairs,
  'a cycle of three to five': spinningCycles,
  'the same tool, other arguments, the same error': spinningVaried,
  'sub-agents': spinningAgents,
  'hooks and rules': spinningHooks,
};

export const healthyShapes: readonly Shape[] = Object.values(healthyForms).flat();
export const spinningShapes: readonly SpinningShape[] = Object.values(spinningForms).flat();
