import type { CallFigures } from '../../policy/records/callFigures.ts';
import type { FailureKind } from '../../policy/failures/failure.ts';
import { Latencies } from '../../policy/records/latencies.ts';

/** Tools of one integration that are counted by name: a caller may make names up. */
const mostTools = 200;

/** Times that are kept until they are counted, many at once. */
const mostTimes = 64;

/** Is told once when there is something to take. */
interface CountWatcher {
  counted(): void;
}

/** Counts how calls end, for one integration or one of its tools, until it is taken. Allocates nothing for a call that succeeds. */
export class CallCounter {
  readonly #watcher: CountWatcher;
  #isCounting = false;
  #counts = noCounts();
  readonly #took = new Latencies();
  readonly #times = new Float64Array(mostTimes);
  #uncounted = 0;
  #firstChunk: Latencies | undefined = undefined;
  readonly #tools = new Map<string, CallCounter>();

  constructor(watcher: CountWatcher) {
    this.#watcher = watcher;
  }

  /** The counter of a tool, which counts beside this one; undefined for a call of none. */
  ofTool(tool: string | undefined): CallCounter | undefined {
    if (tool === undefined) return undefined;
    const known = this.#tools.get(tool);
    if (known !== undefined || this.#tools.size >= mostTools) return known;
    const counter = new CallCounter(this.#watcher);
    this.#tools.set(tool, counter);
    return counter;
  }

  succeeded(elapsedMs: number): void {
    this.#counts.succeeded++;
    this.#times[this.#uncounted++] = elapsedMs;
    if (this.#uncounted === mostTimes) this.#count();
    if (!this.#isCounting) this.#begin();
  }

  failed(kind: FailureKind): void {
    this.#counts.failed[kind] = (this.#counts.failed[kind] ?? 0) + 1;
    if (!this.#isCounting) this.#begin();
  }

  fellBack(kind: FailureKind): void {
    this.#counts.fellBack++;
    this.failed(kind);
  }

  refused(): void {
    this.#counts.refused++;
    if (!this.#isCounting) this.#begin();
  }

  retried(): void {
    this.#counts.retries++;
    if (!this.#isCounting) this.#begin();
  }

  restarted(): void {
    this.#counts.restarts++;
    if (!this.#isCounting) this.#begin();
  }

  firstChunkCame(afterMs: number): void {
    this.#firstChunk ??= new Latencies();
    this.#firstChunk.add(afterMs);
    if (!this.#isCounting) this.#begin();
  }

  /** @returns what was counted since it was last taken, the whole first and then by tool; nothing where nothing was. */
  take(): (CallFigures & { readonly tool: string | undefined })[] {
    const taken = [...this.#tools].flatMap(([name, tool]) =>
      tool.take().map((figures) => ({ ...figures, tool: name })),
    );
    if (!this.#isCounting) return taken;
    this.#count();
    const own = {
      tool: undefined,
      ...this.#counts,
      took: this.#took.take(),
      firstChunk: this.#firstChunk?.take() ?? [],
    };
    this.#isCounting = false;
    this.#counts = noCounts();
    return [own, ...taken];
  }

  #count(): void {
    for (const time of this.#times.subarray(0, this.#uncounted)) this.#took.add(time);
    this.#uncounted = 0;
  }

  #begin(): void {
    this.#isCounting = true;
    this.#watcher.counted();
  }
}

function noCounts() {
  const failed: Partial<Record<FailureKind, number>> = {};
  return { succeeded: 0, failed, fellBack: 0, refused: 0, retries: 0, restarts: 0 };
}
