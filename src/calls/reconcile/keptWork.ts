import type { FailureFacts } from '../../policy/failures/failure.ts';
import { isTimeoutReason } from '../../policy/failures/timeoutReason.ts';
import type { Attempt } from '../attempt.ts';
import type { Call } from '../call.ts';
import type { CallPathOptions } from '../callPathOptions.ts';
import type { KeptWhy } from '../callWhy.ts';
import { GivenUpWork } from '../givenUpWork.ts';
import { inputKeyOf, type OpenEffect } from './openEffects.ts';

/** Places for kept calls of an integration. */
const mostKept = 32;

/** Is told when the time is over for which work was kept. */
export interface KeptWatcher<A> {
  keepingOver(attempt: A): void;
}

/** Attempts whose limit has passed and whose work goes on all the same, for an equal call of their session to join. */
export class KeptWork<I, O> {
  readonly #options: Pick<CallPathOptions<I, O>, 'clock' | 'deadlines'>;
  readonly #watcher: KeptWatcher<Attempt<Call<I, O>>>;
  readonly #kept = new Set<Attempt<Call<I, O>>>();

  constructor(options: Pick<CallPathOptions<I, O>, 'clock' | 'deadlines'>, watcher: KeptWatcher<Attempt<Call<I, O>>>) {
    this.#options = options;
    this.#watcher = watcher;
  }

  /** Returns the facts that end a call, with how long its work is kept where it is. A call that has joined one is told how long that is. */
  judge(call: Call<I, O>, facts: FailureFacts, attempt = call.attempt): FailureFacts {
    const { keep, session, stream, scope } = call.settings;
    if (keep === undefined || session === undefined || !isLimit(facts)) return facts;
    const effect = call.progress.openEffect as OpenEffect<I, O> | undefined;
    const joined = attempt === undefined ? effect?.kept?.givenUp : undefined;
    if (joined !== undefined) return this.#told(facts, joined.due - this.#options.clock.now());
    if (attempt === undefined || attempt.ended || stream !== undefined || scope !== undefined) return facts;
    if (this.#kept.size >= mostKept || keyOf(call) === undefined) return facts;
    return this.#told(facts, keep.ms);
  }

  /** Keeps the work of an attempt for as long as its facts say. */
  add(attempt: Attempt<Call<I, O>>, facts: FailureFacts): void {
    const { clock, deadlines } = this.#options;
    const over = (): void => this.#watcher.keepingOver(attempt);
    const work = new GivenUpWork(facts, clock.now(), facts.kept?.forMs ?? 0, over);
    work.kept = true;
    attempt.givenUp = work;
    this.#kept.add(attempt);
    deadlines.setLoose(work);
  }

  /** The attempt of a call that is kept. */
  of(call: Call<I, O>): Attempt<Call<I, O>> | undefined {
    for (const attempt of this.#kept) if (attempt.call === call && attempt.number === call.attempts) return attempt;
    return undefined;
  }

  /** Its work has ended, or is to end. @returns whether it was kept. */
  delete(attempt: Attempt<Call<I, O>>): boolean {
    if (!this.#kept.delete(attempt)) return false;
    if (attempt.givenUp !== undefined) this.#options.deadlines.remove(attempt.givenUp);
    return true;
  }

  /** Tells what goes on of a session's calls. */
  why(session: string): readonly Omit<KeptWhy, 'integration'>[] {
    const { clock } = this.#options;
    const now = clock.now();
    return this.list().flatMap(({ call: { settings, startedAt }, givenUp }) => {
      if (settings.session !== session || givenUp === undefined) return [];
      const inMs = Math.max(0, givenUp.due - now);
      return [{ tool: settings.label, sinceMs: now - startedAt, inMs, until: Math.round(clock.wallNow() + inMs) }];
    });
  }

  get size(): number {
    return this.#kept.size;
  }

  list(): readonly Attempt<Call<I, O>>[] {
    return [...this.#kept];
  }

  #told(facts: FailureFacts, leftMs: number): FailureFacts {
    const forMs = Math.max(0, Math.floor(leftMs));
    return { ...facts, outcome: 'unknown', kept: { forMs, until: this.#options.clock.wallNow() + forMs } };
  }
}

/** Key by which equal calls of a session are known; undefined where its input is no JSON, or nothing of it is kept. */
export function keyOf<I, O>({ settings, progress, input }: Call<I, O>): string | undefined {
  const about = settings.keep?.about ?? settings.reconcile?.about;
  const asked = about?.((progress.keyless ?? input) as never);
  return asked && inputKeyOf(asked);
}

/** Tells whether a call ends by a limit, ours or its caller's: everything else is a word on its work. */
function isLimit({ kind, reason, cause }: FailureFacts): boolean {
  if (kind === 'timeout' || kind === 'watchdog') return reason !== 'by_operator';
  return kind === 'cancelled' && reason === undefined && isTimeoutReason(cause);
}

/** Tells whether somebody wants the work of a call ended. */
export function isCalledOff({ kind, reason, cause }: FailureFacts): boolean {
  return kind === 'cancelled' && (reason === 'by_operator' || (reason === undefined && !isTimeoutReason(cause)));
}
