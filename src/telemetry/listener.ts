import type { Fact, FactOf, FactType, Told } from '../policy/facts/facts.ts';
import { familyOf } from '../policy/facts/factFamilies.ts';
import { nearest } from '../policy/text/nearest.ts';
import { checkName } from '../policy/options/options.ts';

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

/** Checks the name of a fact. @throws TypeError when it is no non-empty string, RangeError that guesses what was meant when there is no such name. */
export type CheckName = (name: string, type: unknown) => void;

/** @param known - the names there are; without them every name is taken. */
export function createNameCheck(known: readonly string[] | undefined): CheckName {
  return (name, type) => {
    const given = checkName(name, type);
    if (known === undefined || known.includes(given)) return;
    const family = familyOf(given);
    if (family !== undefined && known.includes(family)) return;
    const close = nearest(given, known);
    throw new RangeError(`Unknown event \`${given}\`${close === undefined ? '' : `; did you mean ${close}?`}`);
  };
}
