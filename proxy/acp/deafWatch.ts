import type { Timer } from '../../src/policy/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { Prompts } from './prompts.ts';
import type { AcpScope } from './scope.ts';

/** Least time that an agent may go on with a turn that it was told to end and that has its answer, in ms; `cancelMs` where that is more. */
const leastMs = 1000;
/** Time between two looks at one that cannot be ended, in ms. */
const againMs = 1000;

/** Ends an agent that does not end a turn, unless it works in other sessions. */
export class DeafWatch {
  /** It is being ended for that: whoever waited has had his answer. */
  isEnding = false;
  readonly #scope: AcpScope;
  readonly #prompts: Pick<Prompts, 'refuseHeld'>;
  readonly #end: (why: string) => void;
  readonly #deafMs: number;
  #timer: Timer | undefined = undefined;
  #isStopped = false;

  constructor(scope: AcpScope, prompts: Pick<Prompts, 'refuseHeld'>, end: (why: string) => void) {
    this.#scope = scope;
    this.#prompts = prompts;
    this.#end = end;
    this.#deafMs = Math.max(leastMs, scope.settings.cancelMs);
  }

  /** A turn was abandoned, or the agent has ended one. */
  check(): void {
    const { clock, sessions } = this.#scope;
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isStopped) return;
    const now = clock.now();
    const stale = [...sessions].filter(({ isStale }) => isStale);
    const first = Math.min(...stale.map(({ current }) => current?.abandonedAt ?? now));
    if (stale.length === 0) return;
    if (now - first < this.#deafMs) this.#later(first + this.#deafMs - now);
    else this.#overdue(now);
  }

  stop(): void {
    this.#isStopped = true;
    this.#scope.clock.clearTimeout(this.#timer);
  }

  #overdue(now: number): void {
    const { sessions } = this.#scope;
    const all = [...sessions];
    if (all.some(({ active }) => active?.isAtAgent === true)) {
      for (const session of all) if (session.isStale) this.#prompts.refuseHeld(session, now - this.#deafMs);
      this.#later(againMs);
      return;
    }
    this.isEnding = true;
    this.#end(`it did not end a turn within ${formatDuration(this.#deafMs)} after it was told to`);
  }

  #later(ms: number): void {
    this.#timer = this.#scope.clock.setTimeout(() => this.check(), ms, { running: true });
  }
}
