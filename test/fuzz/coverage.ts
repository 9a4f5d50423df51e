/** Counters of the branches that were taken since they were last looked at; the instrumented source counts in them. */
const counters = (globalThis as unknown as { fuzzCounters: Uint32Array }).fuzzCounters;
/** By branch: how often it was taken by an input, as classes. */
const seen = new Uint8Array(counters.length);

/** What one input did. */
export interface Trace {
  /** Branches taken. */
  readonly steps: number;
  /** Classes of branches that no input before had. */
  readonly news: number;
}

/** Looks at the counters, and sets them back. */
export function takeTrace(): Trace {
  let [steps, news] = [0, 0];
  for (let at = 0; at < counters.length; at++) {
    const count = counters[at] as number;
    if (count === 0) continue;
    counters[at] = 0;
    steps += count;
    const seenHere = seen[at] as number;
    const kind =
      count < 4 ? 1 << (count - 1) : count < 8 ? 8 : count < 16 ? 16 : count < 32 ? 32 : count < 128 ? 64 : 128;
    if ((seenHere & kind) === 0) {
      seen[at] = seenHere | kind;
      news++;
    }
  }
  return { steps, news };
}

/** Takes no branch for known. */
export function forgetTraces(): void {
  counters.fill(0);
  seen.fill(0);
}

/** Number of branches that were taken by any input. */
export function branchesTaken(): number {
  return seen.reduce((count, each) => count + Number(each !== 0), 0);
}
