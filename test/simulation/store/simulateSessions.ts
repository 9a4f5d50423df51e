import { GatewayNode } from './gatewayNode.ts';
import { runNodes, type StoreResult } from './runNodes.ts';
import { judgeSessions } from './sessionJudge.ts';
import type { Mutate } from './simulatedProcess.ts';

export interface SimulateSessionsOptions {
  readonly seed: number;
  /** Numbers of the planned steps that are played. @defaultValue all */
  readonly only?: readonly number[] | undefined;
  /** A bug that is to be found. @defaultValue none */
  readonly mutate?: Mutate | undefined;
}

/** Runs the sessions of several gateways on one simulated PostgreSQL through what one seed says; see {@link judgeSessions}. */
export function simulateSessions({ seed, only, mutate }: SimulateSessionsOptions): Promise<StoreResult> {
  return runNodes({
    seed,
    only,
    strikes: true,
    make: (name, parts) => new GatewayNode(name, { ...parts, mutate }),
    judge: (database, nodes, told) =>
      judgeSessions(
        database,
        nodes.flatMap(({ sent }) => sent),
        told,
      ),
  });
}
