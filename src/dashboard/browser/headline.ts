import { counted } from './words.ts';

/** How many waits are shown of a kind. */
export interface WaitCounts {
  readonly waiting: number;
  /** Those that have just ended, and are shown for a moment more. */
  readonly over: number;
}

/** What the list of waits comes to, in one line: it says nothing that a row below it does not. */
export function headline(person: WaitCounts, rules: WaitCounts): string {
  if (person.waiting > 0) return `${counted(person.waiting, 'thing needs', 'things need')} a person`;
  if (person.over > 0) return 'Nothing needs a person any more';
  return rules.waiting > 0 ? 'Nothing needs a person' : 'All is well';
}
