import { runNodes, type StoreResult } from './runNodes.ts';
import { judgeShared } from './sharedJudge.ts';
import { SharedNode } from './sharedNode.ts';
import type { Mutate } from './simulatedProcess.ts';

export interface SimulateSharedOptions {
  readonly seed: number;
  /** Numbers of the planned steps that are played. @defaultValue all */
  readonly only?: readonly number[] | undefined;
  /** A bug that is to be found. @defaultValue none */
  readonly mutate?: Mutate | undefined;
}

/** Runs what several nodes share - breakers, rate limits, alerts, events - on one simulated PostgreSQL through what one seed says; see {@link judgeShared}. */
export function simulateShared({ seed, only, mutate }: SimulateSharedOptions): Promise<StoreResult> {
  return runNodes({
    seed,
    only,
    roundsMore: 6,
    make: (name, parts) => new SharedNode(name, { ...parts, mutate }),
    judge: (database, nodes) => judgeShared(database, nodes),
  });
}
