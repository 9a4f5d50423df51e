import type { Deadline } from '../src/calls/face.ts';
import type { Runtime } from '../src/runtime/face.ts';

/** The work of one attempt. */
export interface WorkOfItem {
  /** It was told to end; nothing happens when it has. */
  givenUp(): void;
  ended(): void;
}

/**
 * Work of items that was given up and goes on: it keeps its place until it ends, or is written off after its grace.
 * @param graceMs - after which work that does not end gives its place to other items.
 * @param freed - told when a place is.
 */
export function createAbandonedWork(
  { clock, deadlines }: Pick<Runtime, 'clock' | 'deadlines'>,
  graceMs: number,
  freed: () => void,
) {
  const kept = new Set<Deadline>();
  let isStopped = false;

  const free = (place: Deadline): void => {
    if (!kept.delete(place)) return;
    deadlines.remove(place);
    freed();
  };

  return {
    get size(): number {
      return kept.size;
    },
    /** The work of an attempt begins. */
    begin(): WorkOfItem {
      let isOver = false;
      const place: Deadline = { due: 0, heapIndex: -1, expire: () => free(place) };
      return {
        givenUp() {
          if (isOver || isStopped) return;
          isOver = true;
          place.due = clock.now() + graceMs;
          kept.add(place);
          deadlines.set(place);
        },
        ended() {
          isOver = true;
          free(place);
        },
      };
    },
    /** Nothing is waited for any more. */
    stop(): void {
      isStopped = true;
      for (const place of kept) deadlines.remove(place);
      kept.clear();
    },
  };
}
