import { formatLatency } from '../../../src/policy/text/face.ts';
import type { AlertLine, IntegrationLine } from '../snapshot.ts';

/** Rate that people expect of calls: below it a figure has a colour. */
const goal = 0.99;

export const isLow = (rate: number | undefined): boolean => rate !== undefined && rate < goal;

export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  // A share that is not all of it is not shown as if it were.
  const shown = share < 1 ? Math.min(99.99, Math.round(share * 10_000) / 100) : 100;
  return `${shown.toFixed(2)} %`;
}

export const latency = (ms: number | undefined): string => (ms === undefined ? '–' : formatLatency(ms));

export const count = (number: number): string => number.toLocaleString('en-US');

export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Time of day, with the date where it is of another day. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${date.toLocaleDateString('en-CA')} ${time}`;
}

/** The kinds of failures, the most frequent first. */
export function failureText(failures: Readonly<Partial<Record<string, number>>>): string {
  const kinds = Object.entries(failures)
    .filter(([, number]) => (number ?? 0) > 0)
    .sort(([, one], [, other]) => (other ?? 0) - (one ?? 0));
  return kinds.length === 0 ? 'none' : kinds.map(([kind, number]) => `${count(number ?? 0)} ${kind}`).join(', ');
}

/** Success of an integration in its cell: that of the past says nothing of calls that are refused now. */
export function successOf({ circuit, report }: Pick<IntegrationLine, 'circuit' | 'report'>): {
  readonly text: string;
  readonly isBad: boolean;
} {
  const rate = report?.successRate;
  const isRefusing = circuit === 'open' || circuit === 'isolated';
  return isRefusing && (rate ?? 1) === 1
    ? { text: 'refused', isBad: true }
    : { text: percent(rate), isBad: isLow(rate) };
}

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

/** Tells who looks after an alert, since when, and until when where that is still to come. */
export function noteText(
  { is, by = 'somebody', at, until }: NonNullable<AlertLine['note']>,
  now: number,
): { readonly text: string; readonly at: number; readonly endsAt?: number } {
  if (is === 'acknowledged') return { text: `acknowledged by ${by}`, at };
  if (until === undefined || until <= now) return { text: `was put off by ${by}`, at: until ?? at };
  return { text: `put off by ${by} for`, at, endsAt: until };
}
