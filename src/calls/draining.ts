import type { CallSettings } from './callOptions.ts';
import { isOfWork } from './workSignal.ts';

/** Told to something that is to take nothing new, and to let what is under way end by itself. */
export interface DrainOrder {
  /** Time at which the stop began, in monotonic ms. @defaultValue not known */
  readonly since?: number | undefined;
  /** Time at which the rest is cut, in monotonic ms. */
  readonly until: number;
  /** Told whenever something has ended that was under way. Must not throw. */
  readonly ended: () => void;
  /** True where new calls are let pass all the same: they serve those under way. @defaultValue false */
  readonly admits?: boolean | undefined;
}

/** State of a stop, in ms from now. */
export interface Stopping {
  /** Time until all that is under way then is cut. */
  readonly inMs: number;
  /** Time since it began. @defaultValue not known */
  readonly sinceMs?: number | undefined;
}

/** A stop of these times as of `now`, all in monotonic ms. */
export function stoppingAt({ since, until }: Pick<DrainOrder, 'since' | 'until'>, now: number): Stopping {
  const inMs = Math.max(0, Math.round(until - now));
  return since === undefined ? { inMs } : { inMs, sinceMs: Math.round(now - since) };
}

/** Target that can be drained. */
export interface Drainable {
  /** True while something is under way. */
  readonly busy: boolean;
  /** A second order takes the place of the first. */
  drain(order: DrainOrder): void;
}

/** The end of an integration in good order: calls that are under way go on, others are refused. */
export class Draining {
  order: DrainOrder | undefined = undefined;

  /** Time at which its calls will be cut, in monotonic ms; `Infinity` while nothing is said of it. */
  get cutAt(): number {
    return this.order?.until ?? Number.POSITIVE_INFINITY;
  }

  refuses<I, O>({ underWay, signal }: CallSettings<I, O>): boolean {
    return this.order !== undefined && this.order.admits !== true && underWay !== true && !isOfWork(signal);
  }
}
