import type { Fact, FactOf, FactType, Told } from '../policy/facts.ts';

/** Facts that a listener hears under a name: those of one type, or of every type under `'*'`. */
export type Heard<K extends FactType | '*'> = K extends FactType ? Told<FactOf<K>> : Told<Fact>;

/** Takes a fact; what it throws, or rejects with, is contained and told as `listener.failed`. */
export type Listener<K extends FactType | '*'> = (fact: Heard<K>) => unknown;

/** Adds a listener; the function it returns removes it. */
export type Listen = <K extends FactType | '*'>(type: K, listener: Listener<K>) => () => void;

/** Place where a wait or an iterator leaves the way to end it from outside; called at once where that has happened already. */
export interface Closers {
  add(end: () => void): void;
  delete(end: () => void): void;
}
