import { whyOf } from '../../src/calls/callWhy.ts';
import { reconcileText } from '../wire/reconcileText.ts';
import type { Timer } from '../../src/policy/clock.ts';
import type { ClientCall } from './clientCall.ts';
import type { ProxyScope } from './proxyScope.ts';

/** Time between two signs to the client that it is still asked what became of its call, in ms: below the limit of any client. */
const beatMs = 5000;

/** Keeps the client while it is asked what became of its calls: progress that says so, to those that want progress. */
export class ReconcileBeat {
  readonly #scope: ProxyScope;
  readonly #calls: () => Iterable<ClientCall>;
  #timer: Timer | undefined = undefined;

  /** @param calls - the requests of the client that have no answer. */
  constructor(scope: ProxyScope, calls: () => Iterable<ClientCall>) {
    this.#scope = scope;
    this.#calls = calls;
  }

  /** A call has begun to wait for a verdict: its client hears of it at once, and from then on as often as all others. */
  waits(call: ClientCall): void {
    // The time that the question may take is known when it was put.
    this.#scope.clock.nextTurn(() => this.#tell(call));
    this.#timer ??= this.#scope.clock.setTimeout(this.#beat, beatMs);
  }

  end(): void {
    this.#scope.clock.clearTimeout(this.#timer);
  }

  readonly #beat = (): void => {
    this.#timer = undefined;
    let waiting = 0;
    for (const call of this.#calls()) if (this.#tell(call)) waiting++;
    if (waiting > 0) this.#timer = this.#scope.clock.setTimeout(this.#beat, beatMs);
  };

  /** @returns whether it waits for a verdict. */
  #tell(call: ClientCall): boolean {
    const { clock, outlet } = this.#scope;
    const { row } = call;
    const why = row?.waiting === 'reconciling' ? whyOf(row, clock) : undefined;
    if (why?.reconciling === undefined) return false;
    const line = call.progressLine(reconcileText(why.reconciling, why.next.inMs));
    if (line !== undefined) outlet.write(line);
    return true;
  }
}
