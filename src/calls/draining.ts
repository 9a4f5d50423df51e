import type { CallSettings } from './callSettings.ts';
import { isOfWork } from './workSignal.ts';

/** Told to something that is to take nothing new, and to let what is under way end by itself. */
export interface DrainOrder {
  /** When the stop began, in monotonic ms. @defaultValue not known */
  readonly since?: number | undefined;
  /** What is left then is cut, in monotonic ms. */
  readonly until: number;
  /** Told whenever something has ended that was under way. Must not throw. */
  readonly ended: () => void;
  /** Whether new calls are let pass all the same: they serve what is under way. @defaultValue false */
  readonly admits?: boolean | undefined;
}

/** How far a stop is, in ms from now. */
export interface Stopping {
  /** What is under way then is cut. */
  readonly inMs: number;
  /** How long ago it began. @defaultValue not known */
  readonly sinceMs?: number | undefined;
}

/** A stop of these times as of `now`, all in monotonic ms. */
export function stoppingAt({ since, until }: Pick<DrainOrder, 'since' | 'until'>, now: number): Stopping {
  const inMs = Math.max(0, Math.round(until - now));
  return since === undefined ? { inMs } : { inMs, sinceMs: Math.round(now - since) };
}

/** What can be drained. */
export interface Drainable {
  /** Whether something is under way. */
  readonly busy: boolean;
  /** A second order takes the place of the first. */
  drain(order: DrainOrder): void;
}

/** The end of an integration in good order: calls that are under way go on, others are refused. */
export class Draining {
  order: DrainOrder | undefined = undefined;

  /** When its calls will be cut, in monotonic ms; `Infinity` while nothing is said of it. */
  get cutAt(): number {
    return this.order?.until ?? Number.POSITIVE_INFINITY;
  }

  refuses<I, O>({ underWay, signal }: CallSettings<I, O>): boolean {
    return this.order !== undefined && this.order.admits !== true && underWay !== true && !isOfWork(signal);
  }
}
