import type { Exit } from './exit.ts';
import { type ExitListener, type Supervision, guard } from './supervision.ts';

/**
 * Tells `callback` once how the live incarnation of a child ends. Of a child that is not live it tells the last end, in
 * the next microtask; of one that never was, a `failure` that says so.
 * @returns a function that ends the watch; the callback is not called after it.
 */
export function watchChild(supervision: Supervision, id: string, callback: ExitListener): () => void {
  const child = supervision.children.get(id);
  if (child?.ref !== undefined) {
    child.watchers ??= new Set();
    const { watchers } = child;
    watchers.add(callback);
    return () => {
      watchers.delete(callback);
    };
  }
  const exit: Exit = child?.lastExit ?? {
    reason: 'failure',
    error: new Error(`Supervisor \`${supervision.name}\` has no live child \`${id}\``),
  };
  let watching = true;
  queueMicrotask(() => {
    if (watching) guard(supervision.surroundings, 'monitor', () => callback(exit, child?.incarnation ?? 0));
  });
  return () => {
    watching = false;
  };
}
