import { counted } from './words.ts';

/** Numbers of the waits that are shown of a kind. */
export interface WaitCounts {
  readonly waiting: number;
  /** Number of those that have just ended, and are shown for a moment more. */
  readonly over: number;
}

/** Sums up the list of waits, in one line: it says nothing that a row below it does not. */
export function headline(person: WaitCounts, rules: WaitCounts): string {
  if (person.waiting > 0) return `${counted(person.waiting, 'thing needs', 'things need')} a person`;
  if (person.over > 0) return 'Nothing needs a person any more';
  return rules.waiting > 0 ? 'Nothing needs a person' : 'All is well';
}
