import type { CallSettings } from './callSettings.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';
import { isOfWork } from './workSignal.ts';

/** Told to what is to take nothing new, and to let what is under way end by itself. */
export interface DrainOrder {
  /** What is left then is cut, in monotonic ms. */
  readonly until: number;
  /** Told whenever something has ended that was under way. Must not throw. */
  readonly ended: () => void;
  /** Whether new calls are let pass all the same: they serve what is under way. @defaultValue false */
  readonly admits?: boolean | undefined;
}

/** What can be drained. */
export interface Drainable {
  /** Whether something is under way. */
  readonly busy: boolean;
  /** A second order takes the place of the first. */
  drain(order: DrainOrder): void;
}

/** The end of an integration in good order: calls that are under way go on, others are refused. */
export class Draining<I, O> {
  readonly #on: Stations<I, O>;
  #order: DrainOrder | undefined = undefined;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** When its calls will be cut, in monotonic ms; `Infinity` while nothing is said of it. */
  get cutAt(): number {
    return this.#order?.until ?? Number.POSITIVE_INFINITY;
  }

  get busy(): boolean {
    const { attempts, waits, endings } = this.#on;
    return attempts.size + waits.size + endings.fallingBack.length > 0;
  }

  refuses({ underWay, signal }: CallSettings<I, O>): boolean {
    return this.#order !== undefined && this.#order.admits !== true && underWay !== true && !isOfWork(signal);
  }

  /** Calls whose next attempt would come after the end learn now what they would learn then. */
  begin(order: DrainOrder): void {
    this.#order = order;
    const { parts, waits, endings } = this.#on;
    for (const call of waits.list()) {
      const isTimed = call.waiting === 'backoff' || call.waiting === 'pause';
      if (!isTimed || call.due < order.until) continue;
      const { lastFailure } = call.trouble;
      if (lastFailure === undefined) endings.refuse(call, refusal.stopping(parts.name));
      else endings.fail(call, refusal.notTriedAgain(lastFailure));
    }
  }

  /** A call has ended. */
  settled(): void {
    this.#order?.ended();
  }
}
