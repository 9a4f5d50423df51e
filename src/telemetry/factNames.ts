import { familyOf } from '../policy/factFamilies.ts';
import { nearest } from '../policy/nearest.ts';
import { checkName } from '../policy/options.ts';

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
