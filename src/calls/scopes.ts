import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';

/**
 * Calls that share a scope, one at a time: a call holds its scope until it is settled, and the work that it started may go on after that.
 * The next one starts when that has ended too.
 */
export class Scopes<I, O> {
  readonly #holders = new Map<string, Call<I, O>>();
  /** Attempts whose work has not ended, by scope. */
  readonly #atWork = new Map<string, Set<Attempt<Call<I, O>>>>();

  /** The call that holds a scope. */
  holder(scope: string): Call<I, O> | undefined {
    return this.#holders.get(scope);
  }

  /** A new call takes its scope. @returns the call that held it until now. */
  take(scope: string, call: Call<I, O>): Call<I, O> | undefined {
    const holder = this.#holders.get(scope);
    this.#holders.set(scope, call);
    return holder;
  }

  /** The call is settled. */
  leave(call: Call<I, O>): void {
    const { scope } = call.settings;
    if (scope !== undefined && this.#holders.get(scope) === call) this.#holders.delete(scope);
  }

  /** Tells whether work of an earlier attempt of its scope goes on. */
  mustWait({ settings: { scope } }: Call<I, O>): boolean {
    return scope !== undefined && this.#atWork.has(scope);
  }

  workStarted(attempt: Attempt<Call<I, O>>): void {
    const { scope } = attempt.call.settings;
    if (scope === undefined) return;
    const atWork = this.#atWork.get(scope);
    if (atWork === undefined) this.#atWork.set(scope, new Set([attempt]));
    else atWork.add(attempt);
  }

  /** @returns the call that may go on now. */
  workEnded(attempt: Attempt<Call<I, O>>): Call<I, O> | undefined {
    const { scope } = attempt.call.settings;
    return scope === undefined ? undefined : this.#end(scope, attempt);
  }

  /** Abandoned attempts keep their scopes no longer. @returns the calls that may go on now. */
  forgive(): readonly Call<I, O>[] {
    const freed: Call<I, O>[] = [];
    for (const [scope, atWork] of [...this.#atWork]) {
      for (const attempt of [...atWork]) {
        const next = attempt.abandoned ? this.#end(scope, attempt) : undefined;
        if (next !== undefined) freed.push(next);
      }
    }
    return freed;
  }

  #end(scope: string, attempt: Attempt<Call<I, O>>): Call<I, O> | undefined {
    const atWork = this.#atWork.get(scope);
    if (atWork?.delete(attempt) !== true || atWork.size > 0) return undefined;
    this.#atWork.delete(scope);
    const holder = this.#holders.get(scope);
    return holder?.waiting === 'scope' ? holder : undefined;
  }
}
