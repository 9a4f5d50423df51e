import { computed, signal } from '@preact/signals';
import type { Wait } from '../snapshot.ts';

/** A wait that is over. */
export interface EndedWait {
  readonly wait: Wait;
  /** The server's time in ms. */
  readonly endedAt: number;
  /** Ending of it, in one sentence. */
  readonly how: string;
}

/** Time in ms that the row of a wait stays after its end: whoever watches it sees how it ended. */
const shownMs = 5000;
/** Most rows kept; if many end at once nobody reads them all. */
const mostKept = 50;

const kept = signal<readonly EndedWait[]>([]);
/** The row under the pointer, and the one with the focus: they stay. */
const under = signal<Readonly<Record<'pointer' | 'focus', string>>>({ pointer: '', focus: '' });

/** Tells whether the row of one that ended so long ago is still shown. */
export function staysShown({ wait, endedAt }: EndedWait, now: number): boolean {
  return now - endedAt < shownMs || Object.values(under.value).includes(wait.key);
}

/** Waits that have ended, by their key. */
export const ended = computed(() => new Map(kept.value.map((each) => [each.wait.key, each])));

export function hold(by: 'pointer' | 'focus', key: string): void {
  under.value = { ...under.peek(), [by]: key };
}

/** Puts waits among those that have ended; one that waits again, or ended long ago, is none of them. */
export function noteEnded(gone: readonly EndedWait[], waits: (key: string) => boolean, now: number): void {
  const still = kept.peek().filter((each) => !waits(each.wait.key) && staysShown(each, now));
  if (gone.length > 0 || still.length < kept.peek().length) kept.value = [...still, ...gone].slice(-mostKept);
}
