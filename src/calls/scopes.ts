import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';

/**
 * Calls that share a scope, one at a time: a call holds its scope until it is settled, and what it started may go on behind. The
 * next one starts when that has ended too.
 */
export class Scopes<I, O> {
  readonly #on: Stations<I, O>;
  readonly #holders = new Map<string, Call<I, O>>();
  /** Attempts whose work has not ended, by scope. */
  readonly #atWork = new Map<string, Set<Attempt<I, O>>>();

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** The call that holds a scope. */
  holder(scope: string): Call<I, O> | undefined {
    return this.#holders.get(scope);
  }

  /** Lets a new call have its scope, where it has one. Ends the call that holds it, or refuses the new one: as that says. */
  enter(call: Call<I, O>): void {
    const { scope, replace } = call.settings;
    if (scope === undefined) return;
    const holder = this.#holders.get(scope);
    if (holder !== undefined && replace !== true) {
      const { endings, parts } = this.#on;
      endings.refuse(call, refusal.scopeBusy(parts.name, scope, undefined));
      return;
    }
    // First: who hears of the end of the other may call into the same scope.
    this.#holders.set(scope, call);
    if (holder !== undefined) this.#on.keeper.end(holder, refusal.replaced(scope, holder.attempt !== undefined));
  }

  /** The call is settled. */
  leave(call: Call<I, O>): void {
    const { scope } = call.settings;
    if (scope !== undefined && this.#holders.get(scope) === call) this.#holders.delete(scope);
  }

  /** Whether work of an earlier attempt of its scope goes on. */
  mustWait({ settings: { scope } }: Call<I, O>): boolean {
    return scope !== undefined && this.#atWork.has(scope);
  }

  workStarted(attempt: Attempt<I, O>): void {
    const { scope } = attempt.call.settings;
    if (scope === undefined) return;
    const atWork = this.#atWork.get(scope);
    if (atWork === undefined) this.#atWork.set(scope, new Set([attempt]));
    else atWork.add(attempt);
  }

  workEnded(attempt: Attempt<I, O>): void {
    const { scope } = attempt.call.settings;
    if (scope !== undefined) this.#end(scope, attempt);
  }

  /** Work that was written off keeps its scope no longer. */
  forgive(): void {
    for (const [scope, atWork] of [...this.#atWork]) {
      for (const attempt of [...atWork]) if (attempt.abandoned) this.#end(scope, attempt);
    }
  }

  #end(scope: string, attempt: Attempt<I, O>): void {
    const atWork = this.#atWork.get(scope);
    if (atWork?.delete(attempt) !== true || atWork.size > 0) return;
    this.#atWork.delete(scope);
    const holder = this.#holders.get(scope);
    if (holder?.waiting !== 'scope') return;
    this.#on.waits.remove(holder);
    this.#on.gate.proceed(holder);
  }
}
