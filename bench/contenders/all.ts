import { setMaxListeners } from 'node:events';
import { bare, controllerAndTimer } from './bare.ts';
import { loadCockatiel } from './cockatiel.ts';
import type { Contender } from './contender.ts';
import { loadEffect } from './effect.ts';
import { loadOpossum } from './opossum.ts';
import { loadPRetry } from './pRetry.ts';
import { unwedge } from './unwedge.ts';
import { xstate } from './xstate.ts';

/** Who takes part, and who could not. */
export interface Field {
  readonly contenders: readonly Contender[];
  /** Names of those that are not installed. */
  readonly missing: readonly string[];
}

/** Everybody that is installed. */
export async function loadField(): Promise<Field> {
  // cockatiel has one signal for all calls that have none, and listens to it for each: the warning is not what it is measured for.
  setMaxListeners(0);
  const peers = {
    opossum: await loadOpossum(),
    cockatiel: await loadCockatiel(),
    'p-retry': await loadPRetry(),
    effect: await loadEffect(),
  };
  const found = Object.values(peers).flatMap((peer) => peer ?? []);
  return {
    contenders: [unwedge, bare, controllerAndTimer, ...found, xstate],
    missing: [
      ...Object.entries(peers).flatMap(([name, peer]) => (peer === undefined ? [name] : [])),
      ...(peers.cockatiel === undefined ? ['cockatiel-'] : []),
    ],
  };
}
